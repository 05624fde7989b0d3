# What holds for the sources and the documents themselves.
no_mpi_tests += %D%/layers.sh %D%/documents.sh %D%/words.sh %D%/sizes.sh %D%/descriptors.sh \
  %D%/decimals.sh
EXTRA_DIST += %D%/layers.sh %D%/layers.known %D%/documents.sh \
  %D%/words.sh %D%/words.retired %D%/sizes.sh %D%/descriptors.sh \
  %D%/decimals.sh
