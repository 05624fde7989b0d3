# Makes rows as those of mpi.table of what mpi.h declares and the tables have not:
# each call that is given an address.  -v made=FILE: the names that the tables
# make, one a line.  The input is mpi.h, preprocessed, a declaration a line.
#
# A row says "rest": what lies behind each address is brought for as long as the
# call, as far as the prototype tells it (mpi.awk).

function trim(s) {
    gsub(/^[ \t]+|[ \t]+$/, "", s)
    return s
}

BEGIN {
    while ((getline line <made) > 0)
        is_made[line]
    # Memory that these are given, or give, is not looked at by MPI, or they end
    # what there is; a pointer that is an attribute is a value.
    n = split("Abort Address Alloc_mem Attr_put Comm_set_attr Free_mem " \
        "Get_address Init Init_thread Pcontrol Register_datarep " \
        "Register_datarep_c Grequest_start Type_set_attr Win_set_attr", no, " ")
    for (i = 1; i <= n; i++)
        is_made["MPI_" no[i]]
}

{
    if ($0 ~ /typedef/ ||
        !match($0, /(^|[ )])int +MPI_[A-Z][A-Za-z_0-9]* *\(/))
        next
    name = substr($0, RSTART, RLENGTH)
    parameters = substr($0, RSTART + RLENGTH)
    sub(/ *\($/, "", name)
    sub(/^.* /, "", name)
    if (!match(parameters, /\)/))
        next
    parameters = substr(parameters, 1, RSTART - 1)
    if (parameters ~ /\(|\.\.\./ || parameters !~ /[*[]/ || name in is_made)
        next
    is_made[name]
    m = split(parameters, p, ",")
    row = ""
    for (i = 1; i <= m; i++) {
        gsub(/[ \t]+/, " ", p[i])
        row = row (i > 1 ? ", " : "") trim(p[i])
    }
    print substr(name, 5) "(" row ")\n    rest\n    exact"
}
