# Makes C of mpi.table and mpi_wait.table.  -v out=header: the calls' names, and
# Hearth's own way to them; -v out=calls: what stands in front of them.

function fail(text) {
    printf "%s:%d: %s\n", FILENAME, FNR, text >"/dev/stderr"
    failed = 1
    exit 1
}

function trim(s) {
    gsub(/^[ \t]+|[ \t]+$/, "", s)
    return s
}

# "const void *buf" -> "buf"
function name_of(parameter) {
    sub(/^.*[^A-Za-z0-9_]/, "", parameter)
    return parameter
}

function names(parameters,    n, p, i, s) {
    n = split(parameters, p, ",")
    for (i = 1; i <= n; i++)
        s = s (i > 1 ? ", " : "") name_of(trim(p[i]))
    return s
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
    print inlines macros "#endif\n#endif"
}

# ---- the calls ----

function calls_begin() {
    print "/* Made by mpi.awk of mpi.table and mpi_wait.table. */"
    print "#include \"config.h\""
    print "#include \"front/mpi_calls.h\""
    print "#include \"front/mpi_front.h\""
    print "#include \"front/mpi_rules.h\""
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
    }
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
    aside = alone = touched = uses = ends = until = requests = starts = by = small = small_test = ""
    n = split(directives, d, "\n")
    for (i = 1; i < n; i++) {
        parse(d[i])
        if (word ~ /^(read|write)[vwx]?$/)
            rule_use(parameters)
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
        else if (word == "by")
            by = trim(substr(d[i], 3))
        else
            fail("what is \"" word "\"?")
    }
}

function rule_use(parameters,    how, form, p) {
    if (word ~ /^read/ && !is_const(first, parameters))
        fail(first " is not const, so the call may write it")
    how = word ~ /^read/ ? "HEARTH_READ" : "HEARTH_WRITE"
    form = substr(word, length(word))
    form = form ~ /[vwx]/ ? "_" form : ""
    split(args, p, ",")
    touched = touched (touched == "" ? "" : " ||\n        ") \
        "hearthi_touched(" first ")"
    if (form != "")
        touched = touched " ||\n        hearthi_in_heap(" trim(p[2]) \
            ") || hearthi_in_heap(" trim(p[3]) ")"
    uses = uses "        " (when == "" ? "" : "if " when "\n            ") \
        "hearthi_buffer_pin" form "(u, " how ", " args ");\n"
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

# Each call has two names, and behind each there may be somebody else.
function calls_call(name, parameters, directives,    s) {
    rules(parameters, directives)
    if (by == "")
        small_of(parameters)
    s = "static inline __attribute__((always_inline)) int\nbody_" name \
        "(__typeof__(MPI_" name ") **next, " parameters ")\n{\n" \
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
        "        hearthi_front_find();\n"
    if (by != "") {
        sub(/    const char \*outer;\n    int code;\n\n/, "", s)
        print s "    return " by "(*next, " names(parameters) ");\n}\n"
        calls_names(name, parameters)
        return
    }
    if (uses != "")
        s = s "    if (HEARTHI_RARE(" touched ") &&\n" \
            "        (u = hearthi_buffer_pin_begin(\"MPI_" name "\")) != NULL) {\n" \
            uses (until ~ /^PERSISTENT/ ? "" : \
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
            "        hearthi_requests_settle(taken, " second(requests) ");\n"
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
        name ", " names(parameters) ");\n}\n" \
        "FRONT(" full ", front_" full ");\n"
}

function calls_end() {
    print "void *const hearthi_front_ours[] = {\n" ours "};"
    print "void *const hearthi_front_send = (void *)front_PMPI_Send;"
}

# ---- rows ----

function call(name, parameters, directives) {
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
    for (i = 1; i < n; i++) {
        if (d[i] ~ /^(nonblocking|persistent|split)$/)
            asked = asked " " d[i]
        else if (d[i] ~ /^aside/)
            blocks = blocks d[i] "\n"
        else
            rest = rest d[i] "\n"
    }
    begun = rest == "" ? "" : rest "until (REQUEST, *request, 0)\n"
    if (name ~ /^File_/)
        begun = begun "alone\n"
    # Collective ones have requests inside.
    call(name, parameters, \
         blocks rest (name ~ /^File_.*_(all|ordered)$/ ? "alone\n" : ""))
    if (asked ~ /nonblocking/)
        call(name ~ /^File_/ ? "File_i" substr(name, 6) : \
             "I" lower_first(name), request, begun)
    if (asked ~ /persistent/)
        call(name "_init", request, \
             rest "until (PERSISTENT, *request, 0)\n")
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
    if (out == "header")
        header_begin()
    else
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
    else
        calls_end()
}
