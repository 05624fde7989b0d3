// SPDX-License-Identifier: BSD-2-Clause
//
// Containers in the heap: built by one rank and by all, read and freed by
// others.  With "time" what a loop over a vector takes, beside a private one.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <hearth/hearth.hpp>
#include <map>
#include <numeric>
#include <scoped_allocator>
#include <shared_mutex>
#include <string>
#include <vector>

namespace {

using text =
    std::basic_string<char, std::char_traits<char>, hearth::allocator<char>>;
using numbers = std::vector<double, hearth::allocator<double>>;
using words = std::map<
    int, text, std::less<int>,
    std::scoped_allocator_adaptor<hearth::allocator<std::pair<const int, text>>>>;

int wrong;

void
expect(bool right, const char *what)
{
    if (!right)
        std::printf("languages: rank %d: %s\n", hearth_rank(), what);
    wrong += !right;
}

template <class T>
T *
made()
{
    return new (hearth_malloc(sizeof(T))) T();
}

/* More than malloc(3) gives. */
struct alignas(64) line {
    double value[8];
};

void
vectors_of_lines()
{
    std::vector<line, hearth::allocator<line>> v(
        3, hearth::allocator<line>(hearth_size() - 1));

    v.resize(1000);
    expect(reinterpret_cast<std::uintptr_t>(v.data()) % alignof(line) == 0,
          "a vector of lines is not aligned");
    expect(hearth_home(v.data()) == hearth_size() - 1,
          "a vector of lines is at home elsewhere");
}

struct progress {
    long   step;
    double sum;
};

/* A name is free again at the object's end. */
void
objects_that_are_saved()
{
    for (long step = 1; step < 3; step++) {
        hearth::saved<progress> own("progress", { step, 0.5 });

        own->sum += 1;
        expect(!own.restored() && (*own).step == step && own->sum == 1.5,
              "an object that is saved is not what it was made");
    }
    expect(!hearth::checkpoint(), "a checkpoint is made without a folder");
}

template <class T>
void
ended(T *object)
{
    object->~T();
    hearth_free(object);
}

struct shared {
    numbers *list;
    words   *dictionary;
    long     readers;
};

constexpr int EACH = 200;

text
word_of(int key)
{
    return text("the word of number ") + std::to_string(key).c_str();
}

// Rank 0 makes them, all fill them, the last one frees them.
void
containers_test()
{
    hearth::array<shared> common(1, hearth_within(hearth_on(0), 1));
    hearth::mutex         lock(common.data());
    const int             me = hearth_rank(), ranks = hearth_size();

    if (me == 0)
        common[0] = { made<numbers>(), made<words>(), 0 };
    hearth_barrier();
    for (int i = 0; i < EACH; i++) {
        std::lock_guard guard(lock);

        common[0].list->push_back(me * EACH + i);
        (*common[0].dictionary)[i * ranks + me] = word_of(i * ranks + me);
    }
    hearth_barrier();
    {
        const numbers &list = *common[0].list;
        double         sum = std::accumulate(list.begin(), list.end(), 0.0);
        int            n = EACH * ranks, next = 0;

        expect(sum == 0.5 * n * (n - 1), "the vector has another sum");
        for (const auto &[key, word] : *common[0].dictionary)
            expect(key == next++ && word == word_of(key), "a word is wrong");
        expect(next == n, "words are missing");
    }
    hearth_barrier();
    if (me == ranks - 1) {
        ended(common[0].list);
        ended(common[0].dictionary);
    }
    hearth_barrier();
}

void
locks_test()
{
    hearth::array<long>        count(2, hearth_on(0));
    hearth::shared_mutex       door(7);
    hearth::mutex              lock(9);
    hearth::condition_variable turn(3);

    for (int i = 0; i < 20; i++) {
        {
            std::unique_lock writer(door);

            count[0]++;
        }
        std::shared_lock reader(door, std::try_to_lock);

        if (reader.owns_lock())
            expect(count[0] > 0, "a reader sees no writer");
    }
    {
        std::unique_lock held(lock);

        turn.wait(held, [&] { return count[1] == hearth_rank(); });
        count[1]++;
        turn.notify_all();
    }
    hearth_barrier();
    expect(count[0] == 20 * hearth_size(), "the count is another");
    expect(count[1] == hearth_size(), "a turn is missing");
    hearth_barrier();
}

void
arrays_test()
{
    hearth::array<double> a(1000), b(std::move(a)), c;

    static_assert(!std::is_copy_constructible_v<hearth::array<double>>);
    expect(a.empty() && b.size() == 1000, "a move left something");
    if (hearth_rank() == 0)
        std::iota(b.begin(), b.end(), 0.0);
    c = std::move(b);
    hearth_barrier();
    expect(c[999] == 999 && std::is_sorted(c.begin(), c.end()),
           "an array is wrong");
    hearth_barrier();
}

enum class state : int { begun, done };

struct counted {
    long     sum;
    unsigned narrow;
    state    how;
    double   real;
    long     most;
    counted *who;
};

// All at once, on words that have their homes on one rank.
void
atomics_test()
{
    hearth::array<counted> one(1, hearth_within(hearth_on(0), 1));
    const long             me = hearth_rank(), ranks = hearth_size();
    hearth::atomic_ref     sum(one[0].sum), most(one[0].most);
    hearth::atomic_ref     narrow(one[0].narrow);
    hearth::atomic_ref     how(one[0].how);
    hearth::atomic_ref     real(one[0].real);
    hearth::atomic_ref     who(one[0].who);

    hearth_barrier();
    for (long i = 1; i <= EACH; i++) {
        long seen = most.load(hearth::relaxed);

        i % 2 == 0 ? static_cast<void>(sum.fetch_add(i, hearth::relaxed))
                   : sum.add(i, hearth::relaxed);
        narrow.fetch_sub(1U, hearth::relaxed);
        real.add(0.5, hearth::relaxed);
        while (seen < me * i &&
               !most.compare_exchange_weak(seen, me * i, hearth::relaxed))
            continue;
    }
    how.store(state::done, hearth::relaxed);
    who.exchange(one.data(), hearth::relaxed);
    hearth_barrier();
    expect(sum.load(hearth::relaxed) == ranks * EACH * (EACH + 1) / 2,
           "an atomic sum is wrong");
    expect(narrow.load(hearth::relaxed) == -unsigned(ranks * EACH),
           "an atomic sum of 32 bits is wrong");
    expect(real.load(hearth::relaxed) == 0.5 * double(ranks * EACH),
           "an atomic sum of doubles is wrong");
    expect(most.load(hearth::relaxed) == (ranks - 1) * EACH,
           "the most is another");
    expect(how.load(hearth::relaxed) == state::done &&
               who.load(hearth::relaxed) == one.data(),
           "what was stored is another");
    hearth_barrier();
    narrow.fetch_or(~0U, hearth::relaxed);
    narrow.fetch_and(0xf0U, hearth::relaxed);
    hearth_barrier();
    narrow.fetch_xor(1U << (8 + me), hearth::relaxed);
    hearth_barrier();
    expect(narrow.load(hearth::relaxed) == (0xf0U | ((1U << ranks) - 1) << 8),
           "bits are wrong");
    hearth_barrier();
}

template <class V>
double
loop_time(V &v)
{
    double sum = 0;
    auto   start = std::chrono::steady_clock::now();

    for (auto &x : v)
        x = x * 0.999 + 1;
    for (const auto &x : v)
        sum += x;
    expect(sum > 0, "no sum");
    return std::chrono::duration<double>(std::chrono::steady_clock::now() -
                                         start)
        .count();
}

// The least of many rounds, in turn.
void
time_tell()
{
    numbers             here(1 << 18, 1.0);
    std::vector<double> own(1 << 18, 1.0);
    double              a = 1e9, b = 1e9;

    for (int i = 0; i < 300; i++) {
        a = std::min(a, loop_time(here));
        b = std::min(b, loop_time(own));
    }
    if (hearth_rank() == 0)
        std::printf("languages: C++ loop %.3f of a private vector's\n", a / b);
}

} // namespace

int
main(int argc, char **argv)
{
    hearth_init(MPI_COMM_WORLD);
    containers_test();
    vectors_of_lines();
    objects_that_are_saved();
    locks_test();
    arrays_test();
    atomics_test();
    if (argc > 1 && std::strcmp(argv[1], "time") == 0)
        time_tell();
    if (wrong == 0)
        std::printf("languages: rank %d: right\n", hearth_rank());
    hearth_finalize();
    return wrong != 0;
}
