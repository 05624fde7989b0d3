# HEARTH_APPEND_CFLAGS(VARIABLE, FLAGS)
# -------------------------------------
# Append to VARIABLE those FLAGS that the compiler takes, and substitute it.
# Written here so that a machine without autoconf-archive can run autogen.sh.
# -Werror, because clang only warns of a flag that it does not know.
AC_DEFUN([HEARTH_APPEND_CFLAGS],
[hearth_saved_cflags=$CFLAGS
for hearth_flag in m4_normalize([$2]); do
  AC_MSG_CHECKING([whether $CC accepts $hearth_flag])
  CFLAGS="$hearth_saved_cflags -Werror $hearth_flag"
  AC_COMPILE_IFELSE([AC_LANG_PROGRAM()],
    [AC_MSG_RESULT([yes])
     AS_VAR_APPEND([$1], [" $hearth_flag"])],
    [AC_MSG_RESULT([no])])
done
CFLAGS=$hearth_saved_cflags
AC_SUBST([$1])
])
