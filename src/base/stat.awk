# stat.awk -- the counters, as src/base/stat.h wants them, from the one place
# where they are declared: the members of hearth_stats in hearth.h, with what
# is said of each.
#
#   awk -f stat.awk include/hearth/hearth.h >stat.def
/^typedef struct hearth_stats [{]/ { inside = 1; next }
/^[}] hearth_stats;/ { exit }
inside {
    line = $0
    if (line ~ /^ *uint64_t /) {
        name = line
        sub(/^ *uint64_t /, "", name)
        sub(/;.*/, "", name)
        text = ""
        sub(/^[^<]*</, "", line)
    }
    ends = sub(/ *[*]\/.*/, "", line)
    sub(/^ */, "", line)
    text = text (text == "" ? "" : " ") line
    if (ends)
        print "STAT(" name ", \"" text "\")"
}
