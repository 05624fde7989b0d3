# hearth-env(7) comes from option.def and stat.def, through hearth-info.
if !CROSS
nodist_man7_MANS = %D%/hearth-env.7
CLEANFILES += %D%/hearth-env.7
endif
%D%/hearth-env.7: hearth-info$(EXEEXT)
	$(AM_V_GEN)$(MKDIR_P) %D% && ./hearth-info$(EXEEXT) --man >$@.tmp && mv -f $@.tmp $@

# hearth_*(3) come from the comments of hearth.h, through Doxygen; automake
# wants the list, tests/api-lists.sh keeps it right.
api_pages = \
  %D%/man3/hearth.h.3 \
  %D%/man3/hearth_alloc.3 \
  %D%/man3/hearth_barrier.3 \
  %D%/man3/hearth_block.3 \
  %D%/man3/hearth_cyclic.3 \
  %D%/man3/hearth_fetch_add.3 \
  %D%/man3/hearth_finalize.3 \
  %D%/man3/hearth_flag_reset.3 \
  %D%/man3/hearth_flag_set.3 \
  %D%/man3/hearth_flag_wait.3 \
  %D%/man3/hearth_free.3 \
  %D%/man3/hearth_get_stats.3 \
  %D%/man3/hearth_home.3 \
  %D%/man3/hearth_init.3 \
  %D%/man3/hearth_initialized.3 \
  %D%/man3/hearth_layout.3 \
  %D%/man3/hearth_layout_kind.3 \
  %D%/man3/hearth_lock.3 \
  %D%/man3/hearth_node.3 \
  %D%/man3/hearth_node_of.3 \
  %D%/man3/hearth_nodes.3 \
  %D%/man3/hearth_on.3 \
  %D%/man3/hearth_option.3 \
  %D%/man3/hearth_prefetch.3 \
  %D%/man3/hearth_rank.3 \
  %D%/man3/hearth_size.3 \
  %D%/man3/hearth_stats.3 \
  %D%/man3/hearth_swap.3 \
  %D%/man3/hearth_trylock.3 \
  %D%/man3/hearth_unlock.3
if HAVE_DOXYGEN
nodist_man3_MANS = $(api_pages)
endif
$(api_pages): %D%/doxygen.stamp
%D%/doxygen.stamp: $(hearthinclude_HEADERS) %D%/Doxyfile
	$(AM_V_GEN)$(DOXYGEN) %D%/Doxyfile && touch $@

clean-local:
	-rm -rf %D%/man3 %D%/doxygen.stamp
