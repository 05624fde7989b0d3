dist_man1_MANS = %D%/hearth-apps.1 %D%/hearth-cluster.1 %D%/hearth-compare.1 \
  %D%/hearth-checkpoint.1 %D%/hearth-info.1 %D%/hearth-perf.1 \
  %D%/hearth-report.1 %D%/hearth-run.1
if HAVE_CLUSTERS
dist_man1_MANS += %D%/hearth-gateway.1
endif

dist_man7_MANS = %D%/hearth-beside.7

# hearth-env(7) comes from option.def and hearth_stats, through hearth-info,
# which runs under an emulator where it is built for another machine; without one
# that of the archive is installed, if there is one.
if HAVE_ENV_PAGE
nodist_man7_MANS = %D%/hearth-env.7
endif
if MAKES_ENV_PAGE
CLEANFILES += %D%/hearth-env.7
%D%/hearth-env.7: hearth-info$(EXEEXT)
	$(AM_V_GEN)$(MKDIR_P) %D% && $(EMULATOR) ./hearth-info$(EXEEXT) --man >$@.tmp && mv -f $@.tmp $@
endif

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
  %D%/man3/hearth_add.3 \
  %D%/man3/hearth_add32.3 \
  %D%/man3/hearth_add_double.3 \
  %D%/man3/hearth_alloc.3 \
  %D%/man3/hearth_atomic_flush.3 \
  %D%/man3/hearth_barrier.3 \
  %D%/man3/hearth_block.3 \
  %D%/man3/hearth_cyclic.3 \
  %D%/man3/hearth_cluster.3 \
  %D%/man3/hearth_cluster_comm.3 \
  %D%/man3/hearth_cluster_of.3 \
  %D%/man3/hearth_checkpoint.3 \
  %D%/man3/hearth_checkpoint_add.3 \
  %D%/man3/hearth_checkpoint_done.3 \
  %D%/man3/hearth_checkpoint_read.3 \
  %D%/man3/hearth_checkpoint_remove.3 \
  %D%/man3/hearth_checkpoint_wait.3 \
  %D%/man3/hearth_clusters.3 \
  %D%/man3/hearth_offset.3 \
  %D%/man3/hearth_on_cluster.3 \
  %D%/man3/hearth_read.3 \
  %D%/man3/hearth_team.3 \
  %D%/man3/hearth_team_alloc.3 \
  %D%/man3/hearth_team_barrier.3 \
  %D%/man3/hearth_team_free.3 \
  %D%/man3/hearth_team_of.3 \
  %D%/man3/hearth_team_of_f.3 \
  %D%/man3/hearth_wait_until.3 \
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
  %D%/man3/hearth_calloc.3 \
  %D%/man3/hearth_aligned_alloc.3 \
  %D%/man3/hearth_aligned_alloc_on.3 \
  %D%/man3/hearth_collect.3 \
  %D%/man3/hearth_compiled.3 \
  %D%/man3/hearth_counter.3 \
  %D%/man3/hearth_counter_name.3 \
  %D%/man3/hearth_cond_broadcast.3 \
  %D%/man3/hearth_cond_signal.3 \
  %D%/man3/hearth_cond_wait.3 \
  %D%/man3/hearth_flag_reset.3 \
  %D%/man3/hearth_flag_set.3 \
  %D%/man3/hearth_flag_wait.3 \
  %D%/man3/hearth_free.3 \
  %D%/man3/hearth_get_malloc_stats.3 \
  %D%/man3/hearth_get_stats.3 \
  %D%/man3/hearth_get_stats_sized.3 \
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
  %D%/man3/hearth_name.3 \
  %D%/man3/hearth_node.3 \
  %D%/man3/hearth_node_of.3 \
  %D%/man3/hearth_nodes.3 \
  %D%/man3/hearth_on.3 \
  %D%/man3/hearth_option.3 \
  %D%/man3/hearth_overwrite.3 \
  %D%/man3/hearth_prefetch.3 \
  %D%/man3/hearth_prefetchv.3 \
  %D%/man3/hearth_rank.3 \
  %D%/man3/hearth_rdlock.3 \
  %D%/man3/hearth_read_mostly.3 \
  %D%/man3/hearth_realloc.3 \
  %D%/man3/hearth_release.3 \
  %D%/man3/hearth_restarted.3 \
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
if HAVE_API_PAGES
nodist_man3_MANS = $(api_pages)
endif
# The stamp is in the archive, too, so nothing here may be newer that configure
# makes.  Without Doxygen the pages of the archive do, though a header is newer.
$(api_pages): %D%/doxygen.stamp
%D%/doxygen.stamp: $(hearthinclude_HEADERS) $(srcdir)/%D%/Doxyfile.in \
    $(top_srcdir)/configure.ac
if HAVE_DOXYGEN
	$(AM_V_GEN)$(MKDIR_P) %D% && rm -rf %D%/man3 && \
	  $(DOXYGEN) %D%/Doxyfile && (cd %D%/man3 && $(api_links)) && touch $@
else
	@echo "there is no doxygen: hearth.h(3) and its kin stay as they are" >&2
endif

# A function's page is that of its header.  Doxygen says so by ".so man3/...",
# which a reader of one file ("man -l") does not find: make them links.  And
# the page of a struct lacks the words by which apropos(1) finds it.
api_links = \
  for page in *.3; do \
    header=`sed -n 's,^\.so man3/,,p' "$$page"`; \
    if test -n "$$header"; then \
      ln -sf "$$header" "$$page" || exit 1; \
    else \
      awk 'name && !/\\-/ { $$0 = $$0 " \\- a struct of hearth.h" } \
        { name = /^\.SH NAME/; print }' "$$page" >page.tmp && \
        mv -f page.tmp "$$page" || exit 1; \
    fi; \
  done

# What is installed and in the archive is a copy for each function.  Installed,
# they are links again.
# Applications have one page for all, by the name of each.
install-data-hook: install-api-links
	cd '$(DESTDIR)$(man1dir)' && for name in $(app_names); do \
	  ln -sf hearth-apps.1 $$name.1 || exit 1; \
	done
uninstall-hook:
	cd '$(DESTDIR)$(man1dir)' && for name in $(app_names); do \
	  rm -f $$name.1; \
	done
app_names = `sed -n '/^\.SH NAME/,/^\.SH SYN/p' $(abs_top_srcdir)/%D%/hearth-apps.1 | \
  tr -d , | tr ' ' '\n' | grep '^hearth-'`
.PHONY: install-api-links
install-api-links:
if HAVE_API_PAGES
	cd '$(DESTDIR)$(man3dir)' && for page in $(api_pages); do \
	  page=`basename "$$page"`; \
	  for header in hearth.h.3 jia.h.3 Tmk.h.3; do \
	    test "$$page" = $$header || ! cmp -s "$$page" $$header || \
	      ln -sf $$header "$$page" || exit 1; \
	  done; \
	done
endif

# Who builds from the archive needs neither Doxygen nor, for another machine,
# a hearth-info that runs here.
if HAVE_API_PAGES
if HAVE_ENV_PAGE
dist_pages = $(api_pages) %D%/doxygen.stamp %D%/hearth-env.7
else
dist_pages = no-env-page
endif
else
dist_pages = no-api-pages
endif
no-api-pages:
	@echo "make dist: the archive carries the man pages of the functions:" \
	  "install doxygen and configure again" >&2; exit 1
no-env-page:
	@echo "make dist: the archive carries hearth-env(7), which only a build" \
	  "for this machine can make: use one" >&2; exit 1
.PHONY: no-api-pages no-env-page
dist-pages: $(dist_pages)
	$(MKDIR_P) $(distdir)/%D%/man3
	for page in $(api_pages) %D%/hearth-env.7 %D%/doxygen.stamp; do \
	  if test -f $$page; then from=; else from=$(srcdir)/; fi; \
	  cp -fp $$from$$page $(distdir)/$$page || exit 1; \
	done
	touch $(distdir)/%D%/doxygen.stamp
.PHONY: dist-pages

# Without Doxygen they are the archive's, where that is built in its own folder.
clean-local:
if HAVE_DOXYGEN
	-rm -rf %D%/man3 %D%/doxygen.stamp
endif
