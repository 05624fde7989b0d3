dist_man1_MANS = %D%/hearth-cluster.1 %D%/hearth-compare.1 %D%/hearth-perf.1
if HAVE_CLUSTERS
dist_man1_MANS += %D%/hearth-gateway.1
endif

dist_man7_MANS = %D%/hearth-beside.7

# hearth-env(7) comes from option.def and stat.def, through hearth-info.
if !CROSS
nodist_man7_MANS = %D%/hearth-env.7
CLEANFILES += %D%/hearth-env.7
endif
%D%/hearth-env.7: hearth-info$(EXEEXT)
	$(AM_V_GEN)$(MKDIR_P) %D% && ./hearth-info$(EXEEXT) --man >$@.tmp && mv -f $@.tmp $@

# hearth_*(3), jia_*(3) and Tmk_*(3) come from the comments of the headers,
# through Doxygen; automake wants the list, tests/api/api-lists.sh keeps it right.
api_pages = \
  %D%/man3/Tmk.h.3 \
  %D%/man3/Tmk_barrier.3 \
  %D%/man3/Tmk_distribute.3 \
  %D%/man3/Tmk_err.3 \
  %D%/man3/Tmk_errexit.3 \
  %D%/man3/Tmk_exit.3 \
  %D%/man3/Tmk_free.3 \
  %D%/man3/Tmk_lock_acquire.3 \
  %D%/man3/Tmk_lock_cond_broadcast.3 \
  %D%/man3/Tmk_lock_cond_signal.3 \
  %D%/man3/Tmk_lock_cond_wait.3 \
  %D%/man3/Tmk_lock_release.3 \
  %D%/man3/Tmk_malloc.3 \
  %D%/man3/Tmk_sbrk.3 \
  %D%/man3/Tmk_sched_exit.3 \
  %D%/man3/Tmk_sched_fork.3 \
  %D%/man3/Tmk_sched_start.3 \
  %D%/man3/Tmk_startup.3 \
  %D%/man3/hearth.h.3 \
  %D%/man3/hearth_acquire.3 \
  %D%/man3/hearth_alloc.3 \
  %D%/man3/hearth_barrier.3 \
  %D%/man3/hearth_block.3 \
  %D%/man3/hearth_cyclic.3 \
  %D%/man3/hearth_cluster.3 \
  %D%/man3/hearth_cluster_comm.3 \
  %D%/man3/hearth_cluster_of.3 \
  %D%/man3/hearth_clusters.3 \
  %D%/man3/hearth_offset.3 \
  %D%/man3/hearth_on_cluster.3 \
  %D%/man3/hearth_read.3 \
  %D%/man3/hearth_write.3 \
  %D%/man3/hearth_drop.3 \
  %D%/man3/hearth_compare_swap.3 \
  %D%/man3/hearth_compare_swap32.3 \
  %D%/man3/hearth_fetch_add.3 \
  %D%/man3/hearth_fetch_add32.3 \
  %D%/man3/hearth_fetch_add_double.3 \
  %D%/man3/hearth_fetch_and.3 \
  %D%/man3/hearth_fetch_and32.3 \
  %D%/man3/hearth_fetch_or.3 \
  %D%/man3/hearth_fetch_or32.3 \
  %D%/man3/hearth_fetch_xor.3 \
  %D%/man3/hearth_fetch_xor32.3 \
  %D%/man3/hearth_finalize.3 \
  %D%/man3/hearth_first_touch.3 \
  %D%/man3/hearth_aligned_alloc.3 \
  %D%/man3/hearth_aligned_alloc_on.3 \
  %D%/man3/hearth_collect.3 \
  %D%/man3/hearth_calloc.3 \
  %D%/man3/hearth_cond_broadcast.3 \
  %D%/man3/hearth_cond_signal.3 \
  %D%/man3/hearth_cond_wait.3 \
  %D%/man3/hearth_flag_reset.3 \
  %D%/man3/hearth_flag_set.3 \
  %D%/man3/hearth_flag_wait.3 \
  %D%/man3/hearth_free.3 \
  %D%/man3/hearth_get_malloc_stats.3 \
  %D%/man3/hearth_get_stats.3 \
  %D%/man3/hearth_hold.3 \
  %D%/man3/hearth_home.3 \
  %D%/man3/hearth_init.3 \
  %D%/man3/hearth_init_f.3 \
  %D%/man3/hearth_initialized.3 \
  %D%/man3/hearth_layout.3 \
  %D%/man3/hearth_layout_kind.3 \
  %D%/man3/hearth_lock.3 \
  %D%/man3/hearth_lock_of.3 \
  %D%/man3/hearth_malloc.3 \
  %D%/man3/hearth_malloc_on.3 \
  %D%/man3/hearth_malloc_stats.3 \
  %D%/man3/hearth_malloc_usable_size.3 \
  %D%/man3/hearth_node.3 \
  %D%/man3/hearth_node_of.3 \
  %D%/man3/hearth_nodes.3 \
  %D%/man3/hearth_on.3 \
  %D%/man3/hearth_option.3 \
  %D%/man3/hearth_overwrite.3 \
  %D%/man3/hearth_prefetch.3 \
  %D%/man3/hearth_rank.3 \
  %D%/man3/hearth_rdlock.3 \
  %D%/man3/hearth_realloc.3 \
  %D%/man3/hearth_release.3 \
  %D%/man3/hearth_rwunlock.3 \
  %D%/man3/hearth_size.3 \
  %D%/man3/hearth_stats.3 \
  %D%/man3/hearth_stats_start.3 \
  %D%/man3/hearth_stats_stop.3 \
  %D%/man3/hearth_swap.3 \
  %D%/man3/hearth_swap32.3 \
  %D%/man3/hearth_try_malloc.3 \
  %D%/man3/hearth_trylock.3 \
  %D%/man3/hearth_tryrdlock.3 \
  %D%/man3/hearth_trywrlock.3 \
  %D%/man3/hearth_unlock.3 \
  %D%/man3/hearth_within.3 \
  %D%/man3/hearth_wrlock.3 \
  %D%/man3/jia.h.3 \
  %D%/man3/jia_alloc.3 \
  %D%/man3/jia_alloc1.3 \
  %D%/man3/jia_alloc2.3 \
  %D%/man3/jia_alloc2p.3 \
  %D%/man3/jia_alloc3.3 \
  %D%/man3/jia_alloc4.3 \
  %D%/man3/jia_alloc_array.3 \
  %D%/man3/jia_alloc_random.3 \
  %D%/man3/jia_barrier.3 \
  %D%/man3/jia_bcast.3 \
  %D%/man3/jia_clock.3 \
  %D%/man3/jia_config.3 \
  %D%/man3/jia_divtask.3 \
  %D%/man3/jia_error.3 \
  %D%/man3/jia_exit.3 \
  %D%/man3/jia_free.3 \
  %D%/man3/jia_gs_new.3 \
  %D%/man3/jia_gs_next.3 \
  %D%/man3/jia_init.3 \
  %D%/man3/jia_loadcheck.3 \
  %D%/man3/jia_lock.3 \
  %D%/man3/jia_recv.3 \
  %D%/man3/jia_reduce.3 \
  %D%/man3/jia_resetcv.3 \
  %D%/man3/jia_send.3 \
  %D%/man3/jia_setcv.3 \
  %D%/man3/jia_startstat.3 \
  %D%/man3/jia_stopstat.3 \
  %D%/man3/jia_unlock.3 \
  %D%/man3/jia_wait.3 \
  %D%/man3/jia_waitcv.3
if HAVE_DOXYGEN
nodist_man3_MANS = $(api_pages)
endif
$(api_pages): %D%/doxygen.stamp
%D%/doxygen.stamp: $(hearthinclude_HEADERS) %D%/Doxyfile
	$(AM_V_GEN)$(DOXYGEN) %D%/Doxyfile && \
	  (cd %D%/man3 && $(api_links)) && touch $@

# A function's page is that of its header.  Doxygen says so by ".so man3/...",
# which a reader of one file ("man -l") does not find: make them links.
api_links = \
  for page in *.3; do \
    header=`sed -n 's,^\.so man3/,,p' "$$page"`; \
    test -z "$$header" || ln -sf "$$header" "$$page" || exit 1; \
  done

# What was installed is a copy for each function: links again.
if HAVE_DOXYGEN
install-data-hook:
	cd '$(DESTDIR)$(man3dir)' && for page in $(api_pages); do \
	  to=`readlink "$(abs_builddir)/$$page"` || continue; \
	  ln -sf "$$to" `basename "$$page"` || exit 1; \
	done
endif

clean-local:
	-rm -rf %D%/man3 %D%/doxygen.stamp
