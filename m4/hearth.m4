divert(-1)
# hearth.m4 -- the PARMACS macros of SPLASH-2 and SPLASH-3, over Hearth.
# SPDX-License-Identifier: BSD-2-Clause
#
#   m4 -s $(pkg-config --variable=macros hearth) program.C >program.c
#   mpicc -o program program.c $(pkg-config --cflags --libs hearth)
#   mpirun -n 4 ./program
#
# Every rank runs main() up to the first CREATE; doc/porting.md says what each
# macro does.
#
# With m4 -DHEARTH_MAIN_LAST main() is the last to draw a number of processes
# that CREATE has made, not the first.

# Names that C has for something else.
undefine(`builtin', `changecom', `debugfile', `debugmode', `decr', `dumpdef',
  `errprint', `esyscmd', `format', `incr', `index', `indir', `len', `m4exit',
  `m4wrap', `maketemp', `mkstemp', `patsubst', `regexp', `shift', `substr',
  `syscmd', `sysval', `traceoff', `traceon', `translit', `unix', `__unix__',
  `__gnu__', `__file__', `__line__', `__program__')

define(`EXTERN_ENV', `
#include <hearth/parmacs.h>
')
define(`MAIN_ENV', `
#include <hearth/parmacs.h>
static __attribute__((constructor)) void parmacs_main_env(void)
{ ifdef(`HEARTH_MAIN_LAST', `parmacs_main_last(); ')parmacs_start(); }
')
define(`MAIN_INITENV', `{parmacs_initenv();}')
define(`MAIN_END', `{exit(0);}')
define(`THREAD_INIT_FREE', `')

define(`CREATE',
  `{parmacs_create((void (*)(void))($1), ifelse(`$2', `', `0', `$2'));}')
define(`WAIT_FOR_END', `{parmacs_wait_for_end();}')
define(`WAIT_FOR_THREADS', `{parmacs_wait_for_end();}')
define(`GET_PID', `{($1) = parmacs_pid();}')
define(`GETPID', `{($1) = parmacs_pid();}')

# A statement, and so in the macros of others: programs write no `;' behind it.
# In an expression it is the one whose name ends in _F.
define(`G_MALLOC_F', `parmacs_malloc($1)')
define(`NU_MALLOC_F', `parmacs_malloc_on($1, ifelse(`$2', `', `0', `$2'))')
define(`G_MALLOC', `G_MALLOC_F($@);')
define(`NU_MALLOC', `NU_MALLOC_F($@);')
define(`G_FREE', `parmacs_free($1)')
define(`NU_FREE', `parmacs_free($1)')

define(`LOCKDEC', `int $1;')
define(`LOCKINIT', `{parmacs_lock_init(&($1), 1);}')
define(`LOCK', `{parmacs_lock($1);}')
define(`UNLOCK', `{parmacs_unlock($1);}')

define(`ALOCKDEC', `int $1[$2];')
define(`ALOCKINIT', `{parmacs_lock_init(($1), ($2));}')
define(`ALOCK', `{parmacs_lock(($1)[$2]);}')
define(`AULOCK', `{parmacs_unlock(($1)[$2]);}')
define(`AUNLOCK', `{parmacs_unlock(($1)[$2]);}')
define(`AGETL', `(($1)[$2])')

define(`BARDEC', `int $1;')
define(`BARINIT', `{($1) = 0;}')
define(`BARRIER', `{parmacs_barrier($2);}')
define(`BARINCLUDE', `')
define(`BAREXCLUDE', `')

define(`PAUSEDEC', `struct parmacs_pause $1;')
define(`PAUSEINIT', `{parmacs_pause_init(&($1));}')
define(`CLEARPAUSE', `{parmacs_pause_clear(&($1));}')
define(`SETPAUSE', `{parmacs_pause_set(&($1));}')
define(`WAITPAUSE', `{parmacs_pause_wait(&($1));}')
define(`EVENT', `')

define(`CONDVARDEC', `int $1;')
define(`CONDVARINIT', `{parmacs_cond_init(&($1));}')
define(`CONDVARWAIT', `{parmacs_cond_wait($1, $2);}')
define(`CONDVARSIGNAL', `{parmacs_cond_signal($1);}')
define(`CONDVARBCAST', `{parmacs_cond_broadcast($1);}')

# They order what the ranks of one node see; between nodes a lock does.
define(`RELEASE_FENCE', `{__atomic_thread_fence(__ATOMIC_RELEASE);}')
define(`ACQUIRE_FENCE', `{__atomic_thread_fence(__ATOMIC_ACQUIRE);}')
define(`FULL_FENCE', `{__atomic_thread_fence(__ATOMIC_SEQ_CST);}')

define(`CLOCK', `{($1) = parmacs_clock();}')
define(`AUG_ON', `')
define(`AUG_OFF', `')
define(`NEWPROC', `')
define(`SPLASH3_ROI_BEGIN', `')
define(`SPLASH3_ROI_END', `')
divert(0)dnl
