# Makes C of mpi.table, mpi_wait.table and what mpi_rest.awk makes.  -v
# out=header: the calls' names, and Hearth's own way to them; -v out=calls: what
# stands in front of them; -v out=names: the calls' names alone.
# -v known=FILE: the names that mpi.h declares, one a line.  A call that this MPI
# does not have is left out: a program that asks the loader for it (mpi4py) must
# not find it in libhearth alone.

function fail(text) {
    printf "%s:%d: %s\n", FILENAME, FNR, text >"/dev/stderr"
    failed = 1
    exit 1
}

function trim(s) {
    gsub(/^[ \t]+|[ \t]+$/, "", s)
    return s
}

# "const void *buf" -> "buf", "int ranges[][3]" -> "ranges"
function name_of(parameter) {
    sub(/(\[[^]]*\])+$/, "", parameter)
    sub(/^.*[^A-Za-z0-9_]/, "", parameter)
    return parameter
}

function names(parameters,    n, p, i, s) {
    if (parameters == "void")
        return ""
    n = split(parameters, p, ",")
    for (i = 1; i <= n; i++)
        s = s (i > 1 ? ", " : "") name_of(trim(p[i]))
    return s
}

# Behind another argument.
function listed(s) {
    return s == "" || s == "void" ? "" : ", " s
}

function lower_first(s) {
    return tolower(substr(s, 1, 1)) substr(s, 2)
}

# ---- the header ----

function header_begin() {
    print "/* Made by mpi.awk of mpi.table and mpi_wait.table. */"
    print "#ifndef HEARTHI_MPI_CALLS_H"
    print "#define HEARTHI_MPI_CALLS_H"
    print "#include <mpi.h>"
    print "#include \"base/mpi_call.h\""
    print "#pragma GCC diagnostic push"
    print "#pragma GCC diagnostic ignored \"-Wdeprecated-declarations\""
}

function header_call(name, parameters) {
    fields = fields "    __typeof__(MPI_" name ") *" name ";\n"
    list = list "    X(" name ") \\\n"
    inlines = inlines "static inline int\nhearthi_mpi_" name "(" \
        parameters ")\n{\n" \
        "    const char *outer = hearthi_mpi_call_enter(\"MPI_" name "\");\n" \
        "    int code = hearthi_direct." name "(" names(parameters) ");\n\n" \
        "    hearthi_mpi_call_leave(outer);\n    return code;\n}\n"
    macros = macros "#define MPI_" name " hearthi_mpi_" name "\n"
}

function header_end() {
    print "struct hearthi_mpi_calls {\n" fields "};"
    print "#define HEARTHI_MPI_CALLS(X) \\\n" list
    print "#ifdef HEARTHI_DIRECT"
    print "extern struct hearthi_mpi_calls hearthi_direct;"
    print "#pragma GCC diagnostic pop"
    print inlines macros "#endif\n#endif"
}

# ---- the calls ----

function calls_begin() {
    print "/* Made by mpi.awk of mpi.table and mpi_wait.table. */"
    print "#include \"config.h\""
    print "#include \"front/mpi_calls.h\""
    print "#include \"front/mpi_front.h\""
    print "#include \"front/mpi_rules.h\""
    print "#pragma GCC diagnostic ignored \"-Wdeprecated-declarations\""
}

# A sibling with large counts has the same parameters in the same order, but
# counts are MPI_Count, and displacements and units MPI_Aint.
function large(parameters,    n, p, i, s, name) {
    n = split(parameters, p, ",")
    for (i = 1; i <= n; i++) {
        s = trim(p[i])
        name = name_of(s)
        if (s ~ /^int ([sr]?count|result_count|there|bytes)$/ ||
            (s ~ /^MPI_Aint bytes$/ && parameters ~ /\*position/))
            p[i] = "MPI_Count " name
        else if (s ~ /^const int \*[sr]?counts$/)
            p[i] = "const MPI_Count *" name
        else if (s ~ /^const int \*[sr]?displs$/)
            p[i] = "const MPI_Aint *" name
        else if (s ~ /^(int|MPI_Aint) \*(position|bytes)$/)
            p[i] = "MPI_Count *" name
        else if (s == "int unit")
            p[i] = "MPI_Aint unit"
    }
    s = trim(p[1])
    for (i = 2; i <= n; i++)
        s = s ", " trim(p[i])
    return s
}

# A directive: WORD (ARGUMENTS) [if (CONDITION)] -> word, args, first, when.
function parse(directive,    at) {
    word = directive
    sub(/ .*/, "", word)
    args = directive
    sub(/^[a-z]+ */, "", args)
    when = ""
    if ((at = index(args, ") if (")) > 0) {
        when = substr(args, at + 5)
        args = substr(args, 1, at)
    }
    args = substr(args, 2, length(args) - 2)
    first = args
    sub(/,.*/, "", first)
}

# What a call writes besides its buffers, or reads, beside the first address.
function small_of(parameters,    n, p, i, s, name) {
    n = split(parameters, p, ",")
    for (i = 1; i <= n; i++) {
        s = trim(p[i])
        name = name_of(s)
        if (s ~ /\*(status|flag|index|done|position|win|message|request|made|file)$/)
            small_add(name, name == "request" && parameters ~ /^int n,/ ? \
                "(size_t)n * sizeof *" name : "sizeof *" name)
        else if (s ~ /\*(statuses|indices)$/)
            small_add(name, "(size_t)n * sizeof *" name)
        else if (rest && s ~ /[*[]/ && s !~ /_(function|fn|func)(_c)? /)
            rest_add(name, s)
    }
}

# One of what a pointer points to, but for bytes and for what the call reads;
# of an array no more is known than its allocation.
function rest_add(name, parameter,    how) {
    how = parameter ~ /^const / ? "HEARTH_READ" : "HEARTH_WRITE"
    small_test = small_test (small_test == "" ? "" : " ||\n        ") \
        "hearthi_in_heap(" name ")"
    if (parameter ~ /\[/ || parameter ~ /^(const )?(char|void) / ||
        how == "HEARTH_READ")
        small = small "        hearthi_buffer_pin_behind(small, " how ", " \
            name ");\n"
    else
        small = small "        hearthi_buffer_pin_bytes(small, " how ", " \
            name ", sizeof *" name ");\n"
}

# Of "n, array": the array.
function second(arguments) {
    sub(/^[^,]*, */, "", arguments)
    return arguments
}

function small_add(name, bytes) {
    small_test = small_test (small_test == "" ? "" : " ||\n        ") \
        "hearthi_in_heap(" name ")"
    small = small "        hearthi_buffer_pin_bytes(small, HEARTH_WRITE, " name \
        ", " bytes ");\n"
}

# Whether a parameter of that name is declared as const.
function is_const(name, parameters,    n, p, i) {
    n = split(parameters, p, ",")
    for (i = 1; i <= n; i++)
        if (name_of(trim(p[i])) == name)
            return trim(p[i]) ~ /^const /
    return 0
}

function rules(parameters, directives,    n, d, i) {
    arrays = rest = 0
    aside = alone = touched = uses = ends = until = requests = starts = by = small = small_test = ""
    n = split(directives, d, "\n")
    for (i = 1; i < n; i++) {
        parse(d[i])
        if (word ~ /^(read|write)[vw]?$/)
            rule_use(parameters)
        else if (word == "array")
            rule_array()
        else if (word == "aside")
            rule_aside()
        else if (word == "until")
            until = args
        else if (word == "ends")
            ends = ends "        ended = hearthi_request_pins_take(ended, " \
                key_of(args) ");\n"
        else if (word == "requests")
            requests = args
        else if (word == "starts")
            starts = args
        else if (word == "alone")
            alone = "HEARTHI_FILES_ALONE"
        else if (word == "rest")
            rest = 1
        else if (word == "by")
            by = trim(substr(d[i], 3))
        else
            fail("what is \"" word "\"?")
    }
}

function touch(test) {
    touched = touched (touched == "" ? "" : " ||\n        ") test
}

function rule_use(parameters,    how, form, p) {
    if (word ~ /^read/ && !is_const(first, parameters))
        fail(first " is not const, so the call may write it")
    how = word ~ /^read/ ? "HEARTH_READ" : "HEARTH_WRITE"
    form = substr(word, length(word))
    form = form ~ /[vw]/ ? "_" form : ""
    touch("hearthi_touched(" first ")")
    if (form != "") {
        split(args, p, ",")
        touch("hearthi_in_heap(" trim(p[2]) ")")
        touch("hearthi_in_heap(" trim(p[3]) ")")
        arrays = 1
        sub(/, [a-z]+, [a-z]+,/, ", HEARTHI_ARRAY(" trim(p[2]) \
            "),\n                HEARTHI_ARRAY(" trim(p[3]) "),", args)
    }
    uses = uses "        " (when == "" ? "" : "if " when "\n            ") \
        "hearthi_buffer_pin" form "(u, " how ", " args ");\n"
}

# An array that the call reads: ARRAY, n.
function rule_array() {
    touch("hearthi_in_heap(" first ")")
    arrays = 1
    uses = uses "        hearthi_buffer_pin_bytes(u, HEARTH_READ, " first \
        ",\n            (size_t)" second(args) " * sizeof *" first ");\n"
}

# What goes there is not held.
function rule_aside(    p) {
    split(args, p, ",")
    aside = trim(p[4])
    uses = uses "        if (!(" (when == "" ? "" : when " &&\n            ") \
        "hearthi_staged_recv(u, &" first "," p[2] "," p[3] ", &" aside ")))\n    "
}

function key_of(args,    p) {
    split(args, p, ",")
    return "HEARTHI_PINS_" trim(p[1]) ", (uintptr_t)" trim(p[2]) \
        ", (intptr_t)" trim(p[3])
}

# Which of its requests a call has completed: how many, and their indices.
function completed(parameters,    flag) {
    flag = parameters ~ /\*flag/ ? "*flag" : "true"
    if (parameters ~ /\*indices/)
        return "code != MPI_SUCCESS ? HEARTHI_NONE_TOLD : *done, indices"
    if (parameters ~ /\*index/)
        return "code != MPI_SUCCESS ? HEARTHI_NONE_TOLD : " flag \
            " && *index != MPI_UNDEFINED, index"
    return "code != MPI_SUCCESS ? HEARTHI_NONE_TOLD : " flag \
        " ? HEARTHI_EACH : 0, NULL"
}

# Each call has two names, and behind each there may be somebody else.
function calls_call(name, parameters, directives,    s) {
    rules(parameters, directives)
    if (by == "")
        small_of(parameters)
    s = "static inline __attribute__((always_inline)) int\nbody_" name \
        "(__typeof__(MPI_" name ") **next" \
        (parameters == "void" ? "" : ", " parameters) ")\n{\n" \
        "    const char *outer;\n    int code;\n"
    if (uses != "")
        s = s "    struct hearthi_buffer_pin *u = NULL;\n"
    if (small != "")
        s = s "    struct hearthi_buffer_pin *small = NULL;\n"
    if (ends != "")
        s = s "    struct hearthi_buffer_pin *ended = NULL;\n"
    if (requests != "" || starts != "")
        s = s "    struct hearthi_taken *taken = NULL;\n"
    s = s "\n    if (HEARTHI_RARE(*next == NULL))\n" \
        "        hearthi_front_need(\"MPI_" name "\", next);\n"
    if (by != "") {
        sub(/    const char \*outer;\n    int code;\n\n/, "", s)
        print s "    return " by "(*next" listed(names(parameters)) ");\n}\n"
        calls_names(name, parameters)
        return
    }
    if (uses != "")
        s = s "    if (HEARTHI_RARE(" touched ") &&\n" \
            "        (u = hearthi_buffer_pin_begin(\"MPI_" name "\")) != NULL) {\n" \
            uses (until ~ /^PERSISTENT/ && !arrays ? "" : \
            "        hearthi_buffer_pin_take(u);\n") "    }\n"
    if (alone != "")
        s = s "    if (" alone " && u == NULL)\n" \
            "        u = hearthi_buffer_pin_begin(\"MPI_" name "\");\n" \
            "    if (" alone " && u != NULL)\n" \
            "        hearthi_buffer_pin_alone(u);\n"
    if (small != "")
        s = s "    if (HEARTHI_RARE(" small_test ") &&\n" \
            "        (small = hearthi_buffer_pin_begin(\"MPI_" name \
            "\")) != NULL) {\n" small "        hearthi_buffer_pin_take(small);\n" \
            "    }\n"
    if (ends != "")
        s = s "    if (HEARTHI_RARE(hearthi_request_pins_any())) {\n" ends "    }\n"
    if (starts != "")
        s = s "    if (HEARTHI_RARE(hearthi_request_pins_any()))\n" \
            "        taken = hearthi_requests_start(" starts ");\n"
    if (requests != "")
        s = s "    if (HEARTHI_RARE(hearthi_request_pins_any()))\n" \
            "        taken = hearthi_requests_take(" requests ");\n"
    s = s "    outer = hearthi_mpi_call_enter(\"MPI_" name "\");\n" \
        "    code = (*next)(" names(parameters) ");\n" \
        "    hearthi_mpi_call_leave(outer);\n"
    if (starts != "")
        s = s "    if (HEARTHI_RARE(taken != NULL))\n" \
            "        hearthi_requests_started(taken, " second(starts) ");\n"
    if (requests != "")
        s = s "    if (HEARTHI_RARE(taken != NULL))\n" \
            "        hearthi_requests_settle(taken, " second(requests) \
            ", " completed(parameters) ");\n"
    if (ends != "")
        s = s "    if (HEARTHI_RARE(ended != NULL))\n" \
            "        hearthi_buffer_pin_end(ended);\n"
    if (small != "")
        s = s "    if (HEARTHI_RARE(small != NULL))\n" \
            "        hearthi_buffer_pin_end(small);\n"
    if (aside != "")
        s = s "    if (HEARTHI_RARE(u != NULL))\n" \
            "        hearthi_staged_recv_end(u, code, " aside ");\n"
    if (uses != "" && until == "")
        s = s "    if (HEARTHI_RARE(u != NULL))\n" \
            "        hearthi_buffer_pin_end(u);\n"
    if (until != "")
        s = s "    if (HEARTHI_RARE(u != NULL))\n" \
            "        hearthi_buffer_pin_until(u, code, " key_of(until) ");\n"
    print s "    return code;\n}\n"
    calls_names(name, parameters)
}

function calls_names(name, parameters) {
    calls_name("", name, parameters)
    calls_name("P", name, parameters)
    ours = ours "    (void *)front_MPI_" name ",\n"
}

function calls_name(prefix, name, parameters,    full) {
    full = prefix "MPI_" name
    print "static int\nfront_" full "(" parameters ")\n{\n" \
        "    return body_" name "(&hearthi_next_" tolower(prefix) "mpi." \
        name listed(names(parameters)) ");\n}\n" \
        "FRONT(" full ", front_" full ");\n"
}

function calls_end() {
    print "void *const hearthi_front_ours[] = {\n" ours "};"
    print "void *const hearthi_front_send = (void *)front_PMPI_Send;"
}

# ---- rows ----

# With each goes the call with large counts.
function call(name, parameters, directives) {
    call_known(name, parameters, directives)
    call_known(name "_c", large(parameters), directives)
}

function call_known(name, parameters, directives) {
    if (!("MPI_" name in is_known))
        return
    if (out == "names") {
        print "MPI_" name
        return
    }
    if (out == "header")
        header_call(name, parameters)
    else
        calls_call(name, parameters, directives)
}

function without_status(parameters) {
    sub(/, MPI_Status \*status$/, "", parameters)
    return parameters
}

function row_end(    asked, n, d, i, blocks, rest, request, begun) {
    if (name == "")
        return
    request = without_status(parameters) ", MPI_Request *request"
    n = split(directives, d, "\n")
    if (directives !~ /(^|\n)newer\n/ && !("MPI_" name in is_known))
        fail("mpi.h has no MPI_" name)
    for (i = 1; i < n; i++) {
        if (d[i] ~ /^(nonblocking|persistent|prepared|split|newer|exact)$/)
            asked = asked " " d[i]
        else if (d[i] ~ /^aside/)
            blocks = blocks d[i] "\n"
        else
            rest = rest d[i] "\n"
    }
    begun = rest == "" ? "" : rest "until (REQUEST, *request, 0)\n"
    if (name ~ /^File_/)
        begun = begun "alone\n"
    if (asked ~ /exact/) {
        call_known(name, parameters, rest)
        name = directives = ""
        return
    }
    # Collective ones have requests inside.
    call(name, parameters, \
         blocks rest (name ~ /^File_.*_(all|ordered)$/ ? "alone\n" : ""))
    if (asked ~ /nonblocking/)
        call(name ~ /^File_/ ? "File_i" substr(name, 6) : \
             "I" lower_first(name), request, begun)
    if (asked ~ /persistent/)
        call(name "_init", request, \
             rest "until (PERSISTENT, *request, 0)\n")
    if (asked ~ /prepared/)
        call(name "_init", \
             parameters ", MPI_Info info, MPI_Request *request", \
             rest == "" ? "" : rest "until (PERSISTENT, *request, 0)\n")
    if (asked ~ /split/) {
        call(name "_begin", without_status(parameters), \
             rest "alone\nuntil (SPLIT, fh, 0)\n")
        call(name "_end", "MPI_File fh, " \
             (name ~ /write/ ? "const " : "") \
             "void *buf, MPI_Status *status", "ends (SPLIT, fh, 0)\n")
    }
    name = directives = ""
}

BEGIN {
    while ((getline line <known) > 0)
        is_known[line]
    if (out == "header")
        header_begin()
    else if (out == "calls")
        calls_begin()
}

/^#/ || /^[ \t]*$/ { next }

open {
    parameters = parameters " " trim($0)
    open = $0 !~ /\)$/
    if (!open)
        sub(/\)$/, "", parameters)
    next
}

/^[A-Z]/ {
    row_end()
    name = $0
    sub(/\(.*/, "", name)
    parameters = substr($0, length(name) + 2)
    open = $0 !~ /\)$/
    if (!open)
        sub(/\)$/, "", parameters)
    next
}

{ directives = directives trim($0) "\n" }

END {
    if (failed)
        exit 1
    row_end()
    if (out == "header")
        header_end()
    else if (out == "calls")
        calls_end()
}
