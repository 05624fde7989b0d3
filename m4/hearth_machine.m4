# HEARTH_CHECK_MACHINE
# --------------------
# Stop where it is not known what the machine says of a page fault
# (src/page/fault_arch.h) and how a stack is changed (src/page/altstack.c), with
# the compiler's own words, so that it also works when cross compiling.
AC_DEFUN([HEARTH_CHECK_MACHINE],
[AC_CACHE_CHECK([which machine this is], [hearth_cv_machine],
  [hearth_cv_machine=unknown
   _HEARTH_IF_MACHINE([defined __x86_64__ && !defined __ILP32__],
     [hearth_cv_machine=x86-64])
   _HEARTH_IF_MACHINE([defined __aarch64__ && !defined __ILP32__],
     [hearth_cv_machine=aarch64])
   _HEARTH_IF_MACHINE([defined __powerpc64__ && _CALL_ELF == 2],
     [hearth_cv_machine=ppc64])
   _HEARTH_IF_MACHINE([defined __riscv && __riscv_xlen == 64],
     [hearth_cv_machine=riscv64])])
AS_IF([test "x$hearth_cv_machine" = xunknown],
  [AC_MSG_ERROR([Hearth runs on x86-64, aarch64, ppc64 (ELFv2) and riscv64, and $host is none of them: page faults of another machine are to be taught to src/page/fault_arch.h and src/page/altstack.c first])])
])

# _HEARTH_IF_MACHINE(CONDITION, ACTION)
m4_define([_HEARTH_IF_MACHINE],
[AC_COMPILE_IFELSE([AC_LANG_SOURCE([[
    #if !($1)
    # error "another machine"
    #endif
    int any;]])], [$2])])
