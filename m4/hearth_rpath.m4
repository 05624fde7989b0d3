# HEARTH_CHECK_RPATH
# ------------------
# Set and substitute HEARTH_RPATH to what lets a program find the library where
# it will be installed: an option of the linker, for hearth.pc, unless the
# loader looks there by itself.  /usr/local/lib is no such folder: the loader
# knows what is there after ldconfig only.  A distribution's package is in one
# and gets none; --disable-rpath is for whoever wants none elsewhere.
AC_DEFUN([HEARTH_CHECK_RPATH],
[AC_ARG_ENABLE([rpath],
  [AS_HELP_STRING([--disable-rpath],
    [do not have hearth.pc tell programs where the library is])],
  [], [enable_rpath=yes])
AC_MSG_CHECKING([whether programs must be told where the library is])
hearth_libdir=$(
  test "x$prefix" != xNONE || prefix=$ac_default_prefix
  test "x$exec_prefix" != xNONE || exec_prefix=$prefix
  eval "echo $libdir")
hearth_multiarch=$($CC -print-multiarch 2>/dev/null)
HEARTH_RPATH=
AS_CASE([$hearth_libdir],
  [/lib|/lib64|/usr/lib|/usr/lib64], [],
  [/lib/$hearth_multiarch|/usr/lib/$hearth_multiarch], [],
  [AS_IF([test "x$enable_rpath" != xno],
    [HEARTH_RPATH='-Wl,-rpath,${libdir} '])])
AS_IF([test -n "$HEARTH_RPATH"],
  [AC_MSG_RESULT([yes, in $hearth_libdir])], [AC_MSG_RESULT([no])])
AC_SUBST([HEARTH_RPATH])
AC_SUBST([enable_rpath])
])
