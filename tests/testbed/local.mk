# Test hosts on this machine: see tools/launch.
EXTRA_DIST += %D%/job %D%/slurm
