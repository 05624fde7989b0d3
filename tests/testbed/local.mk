# Test hosts on this machine.
EXTRA_DIST += %D%/job
