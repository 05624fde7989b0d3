# HEARTH_CHECK_BLANKS
# -------------------
# automake, libtool and pkg-config cut names at blanks: late, and with other
# words.  Before all that looks at the folder of the sources.
AC_DEFUN([HEARTH_CHECK_BLANKS],
[hearth_source=`cd "$srcdir" && pwd`
for hearth_folder in "$hearth_source" "`pwd`" "$prefix" "$exec_prefix" \
    "$libdir" "$libexecdir" "$bindir" "$includedir" "$datarootdir" "$datadir" "$mandir" \
    "$docdir"; do
  AS_CASE([$hearth_folder], [*[[[:space:]]]*],
    [AC_MSG_ERROR(['$hearth_folder' has a blank in its name, which automake and libtool do not take: choose another folder])])
done
])
