#!/bin/sh
# model.sh -- walks the models (tests/model): each holds as it is, and fails
# when any one rule is broken, so each rule is needed.
#
#   tests/model/model.sh               from the build folder; less than a minute
#   MODEL=full tests/model/model.sh    larger ones as well: minutes, some GiB
#   tests/model/model --scan-once --trace      how one fails, step by step
#   tests/model/epoch --no-begin --trace
# Needs: tests/model/*
model=tests/model/model
test -x "$model" || { echo "no $model: make check builds it"; exit 1; }

# This script as one walk: it holds (0) or finds a fault (1).
if test "$1" = --walk; then
    want=$2
    shift 2
    text=`"$@"`
    got=$?
    echo "${*#tests/model/} -- $text"
    test $got = "$want" || { echo "WRONG: exit status $got"; exit 1; }
    exit 0
fi
walks=`mktemp` || exit 1
trap 'rm -f "$walks"' 0
trap 'exit 1' 1 2 15

holds() { echo "0 $model${*:+ $*}" >>"$walks"; }
fails() { echo "1 $model${*:+ $*}" >>"$walks"; }

# long holds|fails ARGS: seconds each, which ./check leaves to ./check --whole.
long() {
    test "$TEST_MATRIX" = short || "$@"
}

holds --writes=3
long holds --writes=3 --locks=0 --barrier
holds --locks=2
long holds --barrier
long holds --homes=2
holds --alloc
holds --alloc --locks=2 --bytes=1 --writes=1
long holds --stay --barrier
holds --stay --barrier --locks=2 --bytes=1 --writes=1
long holds --alloc --homes=2 --bytes=1 --writes=1
holds --overwrite
holds --overwrite --locks=0 --barrier
long holds --overwrite --barrier
long holds --overwrite --guests=2 --bytes=1 --writes=1
holds --predict
holds --predict --locks=0 --barrier
holds --predict --barrier --bytes=1
holds --predict --alloc --bytes=1
holds --predict --overwrite --bytes=1
long holds --predict --guests=2 --bytes=1 --writes=1
holds --steady --writes=3
long holds --steady --barrier
long holds --steady --homes=2 --bytes=1
holds --steady --alloc --bytes=1

holds --arm --locks=0 --barrier
holds --arm --barrier --bytes=1
long holds --arm --barrier
long holds --arm --barrier --homes=2 --bytes=1 --writes=1
long holds --arm --barrier --alloc --bytes=1 --writes=1
long holds --arm --barrier --predict --bytes=1
long holds --arm --barrier --overwrite --bytes=1

# Home pages without cost.
fails --keep-first-copy
fails --trust-open-page
fails --scan-once
fails --homes=2 --one-scans --writes=1
fails --no-tell
fails --tell-with-fetch
fails --fetch-before-tell
fails --locks=0 --barrier --flags-before-word
fails --locks=0 --barrier --no-fence
fails --no-fence-told
fails --locks=0 --barrier --no-fence-told
# Several threads, and replacement.
fails --keep-in-flight
fails --keep-first-in-flight
fails --forget-in-flight
fails --forget-evicted
fails --no-flush-before-drop
fails --no-wait-for-flush
# Diffs and notices.
fails --publish-before-flush
fails --whole-page-diff
fails --locks=0 --barrier --writers-keep
long fails --homes=2 --locks=2 --writes=1 --own-notices-only
# Pages that are opened without their content.
fails --overwrite --overwrite-part
fails --overwrite --overwrite-again
fails --overwrite --keep-overwritten
fails --overwrite --keep-untold
# Pages that are fetched in advance.
fails --predict --keep-here
fails --predict --keep-predicted
fails --predict --predict-untold
fails --predict --predict-first
# Home pages that stay open.
fails --steady --steady-untold
# Homes that arm as they leave a barrier, and report nothing.
fails --arm --barrier --bytes=1 --arm-blind
fails --arm --barrier --bytes=1 --arm-consume
fails --arm --barrier --bytes=1 --arm-no-fence
fails --arm --barrier --bytes=1 --arm-keep-first
# A lock that stays is one that is held for long.
fails --stay --barrier --writes=1 --keep-first-copy
fails --stay --barrier --writes=1 --publish-before-flush

# Allocation and freeing beside threads that synchronise.
fails --alloc --bytes=1 --see-unplaced
fails --alloc --bytes=1 --place-unseen
fails --alloc --bytes=1 --keep-seen
fails --alloc --bytes=1 --keep-registered
fails --alloc --bytes=1 --keep-copy
fails --alloc --bytes=1 --no-free-barrier

# With a look at the flags at every release nobody needs to be told of them,
# and a page evicted before the first acquire needs no care.
holds --scan-always --writes=3
holds --scan-always --forget-evicted --writes=3
holds --scan-always --no-tell --writes=3
holds --alloc --scan-always --bytes=1
fails --alloc --scan-always --see-unplaced --bytes=1
fails --scan-always --forget-evicted --keep-first-copy
fails --scan-always --scan-once

# Copies that a rank takes from another of its node, and the word by which it
# finds them.
long holds --mates --bytes=1 --writes=1
fails --mates --bytes=1 --take-old
fails --mates --bytes=1 --locks=0 --barrier --take-unpassed
fails --mates --bytes=1 --take-own
fails --mates --bytes=1 --take-first
fails --mates --bytes=1 --number-late
fails --mates --predict --bytes=1 --lend-dropped
model=tests/model/word
holds
fails --no-keep
fails --no-fence
fails --lend-early
fails --same-number
fails --no-look
fails --look-early
fails --load-early

# The steps of locks and tries, and of flags, between nodes over MPI.
model=tests/model/chain
holds
fails --one-place
fails --clear-late
fails --swap-name
long fails --swap-back
fails --drop-name
fails --rest-blind
fails --grant-taken
fails --no-settle
fails --keep-blind
fails --no-ring
fails --no-want
fails --drop-kept
model=tests/model/flag
holds
fails --look-at-serving
fails --next-early
fails --no-wait
fails --trust-ring
fails --trust-epoch
fails --serving-first
fails --write-first
fails --no-reread
fails --no-round
model=tests/model/asleep
holds
fails --no-handover
fails --leave-late
fails --say-late
fails --see-late
holds --held
fails --held --no-limit

model=tests/model/wake
holds
fails --no-look
fails --go-at-once
fails --no-forward
fails --wake-first
fails --keep-chain
model=tests/model/idle
holds
fails --reset-uses
fails --byte-first
model=tests/model/gateway
holds
fails --grant-keeps
fails --grant-first
fails --store-keeps
fails --late-is-kept
fails --read-first
fails --not-told
fails --message-keeps
fails --store-is-late
fails --number-first
fails --take-any
model=tests/model/names
holds
fails --no-lock
fails --no-look
fails --number-first
fails --begin-last
fails --count-late
model=tests/model/cond
holds
fails --any-round
fails --no-end
fails --first-end
fails --no-mark
fails --no-name
fails --come-late
fails --no-count
# Locks that stay.
model=tests/model/stay
holds
long fails --no-out
fails --hint-late
fails --no-second-try
fails --end-first
fails --enter-wanted
fails --want-once
fails --no-wake
holds --asleep
fails --asleep --no-raise
fails --asleep --raise-first
fails --asleep --pass-unraised
fails --asleep --no-wake
# Active messages, over a network that loses doorbells and tears words; and over
# one that does not, where nobody may have to ring again.
model=tests/model/mail
holds
holds --sure
fails --reuse-early
fails --sent-early
fails --read-early
fails --count-first
fails --no-wait
fails --no-put-wait
fails --twice
fails --whole-word
fails --trust-sent
fails --trust-done
fails --ring-once
fails --sure --look-early
fails --sure --no-second-look
fails --sure --rest-unserved
# Pages that move, beside threads that use them.
model=tests/model/move
holds
fails --no-flush
fails --no-look
fails --no-note
fails --no-vote
fails --no-done
long fails --untracked
long fails --keep-registered
fails --keep-missed
fails --freeze-steps
fails --freeze-coming
fails --mates --lend-frozen
long holds --renew
long fails --renew --renew-shared
long fails --renew --clear-late
long fails --renew --keep-registered
# Reader-writer locks.
model=tests/model/rw
holds
fails --no-wait
fails --wait-for-even
fails --count-late
fails --ignore-tries
fails --gone-first
fails --tell-late
fails --learn-early
fails --look-once
fails --no-announce
fails --announce-first
fails --try-arrives
fails --try-gives-up
fails --phase-back
fails --no-look
fails --trust-woken
fails --wake-first
fails --name-blind
fails --trust-called
fails --keep-name
# Epochs, and two threads of a rank.
model=tests/model/epoch
holds
holds --flags
holds --scope
long holds --three
fails --no-begin
fails --flags --no-begin
fails --begin-once
fails --flags --begun-first
fails --no-anew
fails --no-ahead
fails --three --no-ahead-tells
fails --three --ahead-outside
long fails --chain --no-lost
fails --release-late
fails --acquire-early
fails --forget-early
fails --flags --forget-all
long fails --long --keep-position
long fails --long --flags --position-of-asked
fails --flags --position-first
fails --flags --given-first
long holds --noise
holds --noise --flags
long holds --noise --scope
fails --noise --merge-says-less
fails --noise --flags --merge-says-less
fails --noise --long --flags --merge-in-place
if test "$MODEL" = full; then
    holds --three --flags
    holds --long
    holds --long --flags
    holds --chain
fi
model=tests/model/model

if test "$MODEL" = full; then
    holds --guests=2
    holds --guests=2 --bytes=1
    holds --guests=2 --locks=0 --barrier --writes=1
    holds --homes=2 --locks=2 --writes=1
    holds --alloc --guests=2 --bytes=1 --writes=1
    holds --guests=2 --locks=2 --writes=1
    holds --homes=2 --barrier --locks=0
    holds --homes=2 --guests=2 --writes=1
    holds --homes=2 --writes=3
    holds --barrier --locks=2 --writes=3
    holds --mates --predict --bytes=1 --writes=1
    holds --mates --predict --barrier --bytes=1 --writes=1
    holds --mates --overwrite --bytes=1 --writes=1
    fails --mates --bytes=1 --barrier --forget-late
    fails --mates --bytes=1 --take-written
    model=tests/model/move
    holds --mates
    holds --mates --renew
fi
# A walk on each core, and the next one when it has ended; large ones need memory.
cores=`getconf _NPROCESSORS_ONLN`
test "$MODEL" != full || cores=2
xargs -L 1 -P "$cores" sh "$0" --walk <"$walks"
