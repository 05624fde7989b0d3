# An exhaustive model needs nothing but C.
check_PROGRAMS += %D%/model
%C%_model_SOURCES = %D%/model.h %D%/walk.c %D%/state.c %D%/sync.c %D%/home.c \
  %D%/guest.c %D%/life.c %D%/mate.c %D%/rules.c
check_PROGRAMS += %D%/chain %D%/flag
%C%_chain_SOURCES = %D%/chain.c %D%/chain.h %D%/chain_take.c %D%/search.c \
  %D%/search.h
%C%_flag_SOURCES = %D%/flag.c %D%/search.c %D%/search.h
check_PROGRAMS += %D%/wake %D%/asleep
%C%_asleep_SOURCES = %D%/asleep.c %D%/search.c %D%/search.h
%C%_wake_SOURCES = %D%/wake.c %D%/search.c %D%/search.h
check_PROGRAMS += %D%/gateway
%C%_gateway_SOURCES = %D%/gateway.c %D%/gateway.h %D%/gateway_mate.c \
  %D%/search.c %D%/search.h
check_PROGRAMS += %D%/names
%C%_names_SOURCES = %D%/names.c %D%/search.c %D%/search.h
check_PROGRAMS += %D%/word
%C%_word_SOURCES = %D%/word.c %D%/search.c %D%/search.h
check_PROGRAMS += %D%/cond
%C%_cond_SOURCES = %D%/cond.c %D%/search.c %D%/search.h
check_PROGRAMS += %D%/stay
%C%_stay_SOURCES = %D%/stay.c %D%/search.c %D%/search.h
check_PROGRAMS += %D%/idle
%C%_idle_SOURCES = %D%/idle.c %D%/search.c %D%/search.h
check_PROGRAMS += %D%/move
%C%_move_SOURCES = %D%/move.c %D%/move.h %D%/move_use.c %D%/search.c \
  %D%/search.h
check_PROGRAMS += %D%/mail
%C%_mail_SOURCES = %D%/mail.c %D%/mail.h %D%/mail_home.c %D%/search.c \
  %D%/search.h
check_PROGRAMS += %D%/rw
%C%_rw_SOURCES = %D%/rw.c %D%/rw.h %D%/rw_check.c %D%/search.c %D%/search.h
check_PROGRAMS += %D%/epoch
%C%_epoch_SOURCES = %D%/epoch.c %D%/epoch.h %D%/epoch_known.c %D%/search.c \
  %D%/search.h
no_mpi_tests += %D%/model.sh
EXTRA_DIST += %D%/model.sh
