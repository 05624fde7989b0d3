# What each order of the memory model is for: models, under relacy.
no_mpi_tests += %D%/order.sh
EXTRA_DIST += %D%/order.sh %D%/order.cpp %D%/order.h %D%/chain_order.h \
  %D%/delegation_order.h %D%/event_order.h %D%/node_cache_order.h \
  %D%/remote_free_order.h %D%/sharers_order.h %D%/shm_channel_order.h

# Threads of one process, under ThreadSanitizer: by hand, and by ./soak.
EXTRA_DIST += %D%/tsan.sh %D%/tsan.supp
