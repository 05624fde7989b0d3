# For hours, with everything drawn: ./soak --help.
EXTRA_DIST += soak %D%/soak.py %D%/job.py
