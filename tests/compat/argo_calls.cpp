// SPDX-License-Identifier: BSD-2-Clause
//
// argo_calls [CASE] -- what the calls of argo/argo.hpp mean, with threads on
// each node as ArgoDSM's programs have them; and with a case, one thing that is
// not allowed.  argo.tap looks at how it ends.
#include <argo.hpp>
#include <cohort_lock.hpp>
#include <cstdio>
#include <cstring>
#include <data_distribution/global_ptr.hpp>
#include <list>
#include <mutex>
#include <synchronization/global_tas_lock.hpp>
#include <synchronization/intranode/mcs_lock.hpp>
#include <synchronization/intranode/ticket_lock.hpp>
#include <thread>
#include <vector>

namespace {

using argo::data_distribution::global_ptr;
namespace atomics = argo::backend::atomic;

constexpr int threads = 2; // of each node
int           me, nodes, wrong;

#define expect(what)                                                  \
    do {                                                              \
        if (!(what)) {                                                \
            std::printf("WRONG on node %d, line %d: %s\n", me, __LINE__, \
                        #what);                                       \
            wrong = 1;                                                \
        }                                                             \
    } while (0)

// A function on all threads of this node, with a number among all.
template <class F>
void
on_threads(F f)
{
    std::vector<std::thread> all;

    for (int i = 0; i < threads; i++)
        all.emplace_back(f, me * threads + i);
    for (auto &t : all)
        t.join();
}

struct counted {
    long *made;
    long  value;

    counted() : counted(nullptr, 7)
    {
    }
    counted(long *where, long v) : made(where), value(v)
    {
        if (made != nullptr)
            ++*made;
    }
    ~counted()
    {
        if (made != nullptr)
            --*made;
    }
};

void
nodes_and_addresses()
{
    int  local = 0;
    int *shared = argo::conew_array<int>(100000);

    expect(argo::node_id() == argo::backend::node_id());
    expect(argo::number_of_nodes() == argo::backend::number_of_nodes());
    expect(argo::is_argo_address(shared + 99999));
    expect(!argo::is_argo_address(&local));
    expect(argo::get_homenode(shared) == 0);
    expect(global_ptr<int>(shared).node() == 0);
    expect(argo::get_block_size() >= 4096);
    expect(shared[99999] == 0);
    argo::barrier();
    argo::codelete_array(shared);
}

// Objects with constructors are made once, and all see them.
void
objects()
{
    long    *made = argo::conew_<long>(0);
    counted *one = argo::conew_<counted>(made, 5L);
    counted *some;
    int     *raw = argo::conew_<int, argo::allocation::initialize>();

    expect(*made == 1 && one->value == 5 && *raw == 0);
    argo::barrier();
    argo::codelete_(one);
    expect(*made == 0);
    some = argo::conew_array<counted>(1000);
    expect(some[999].value == 7 && some[0].made == nullptr);
    argo::barrier();
    for (int i = me; i < 1000; i += nodes)
        some[i].made = made;
    argo::barrier();
    if (me == nodes - 1)
        *made = 1000;
    argo::barrier();
    argo::codelete_array(some);
    expect(*made == 0);
    argo::barrier();
    argo::codelete_(raw);
    argo::codelete_(made);
    argo::codelete_<int>(nullptr);
    argo::codelete_array<counted>(nullptr);
}

// What one node makes another one gives back.
void
objects_of_one_node()
{
    struct box {
        counted *array, *one;
        double  *numbers;
    } *b = argo::conew_<box>();
    long left = 0;

    if (me == 0)
        *b = { argo::new_array<counted>(10), argo::new_<counted>(nullptr, 3L),
               argo::new_array<double, argo::allocation::initialize>(50) };
    argo::barrier();
    if (me == nodes - 1) {
        expect(b->array[9].value == 7 && b->one->value == 3);
        expect(b->numbers[49] == 0);
        left = 10;
        for (int i = 0; i < 10; i++)
            b->array[i].made = &left;
        argo::delete_array(b->array);
        expect(left == 0);
        argo::delete_(b->one);
        argo::delete_array(b->numbers);
    }
    argo::barrier();
    argo::codelete_(b);
}

void
locks(argo::globallock::cohort_lock *cohort)
{
    using tas = argo::globallock::global_tas_lock;
    tas::internal_field_type *field = argo::conew_<tas::internal_field_type>();
    bool *flags = argo::conew_array<bool>(2);
    long *sum = argo::conew_array<long>(1024);
    tas   lock(field), of_flag(&flags[0]), other(&flags[1]);

    on_threads([&](int) {
        for (int i = 0; i < 20; i++) {
            lock.lock();
            sum[0]++;
            lock.unlock();
            cohort->lock();
            sum[300]++;
            cohort->unlock();
            of_flag.lock();
            sum[600]++;
            while (!other.try_lock())
                std::this_thread::yield();
            sum[900]++;
            other.unlock();
            of_flag.unlock();
        }
    });
    argo::barrier();
    for (int i : { 0, 300, 600, 900 })
        expect(sum[i] == 20L * threads * nodes);
    argo::barrier();
    argo::codelete_array(sum);
    argo::codelete_array(flags);
    argo::codelete_(field);
}

// Those of one node, whose threads see what the others do as in any program.
void
locks_of_a_node()
{
    argo::locallock::ticket_lock lock;
    argo::locallock::mcs_lock    other;
    bool  inside = false;
    long *sum = argo::conew_array<long>(1024 * nodes);

    on_threads([&](int) {
        for (int i = 0; i < 50; i++) {
            const std::lock_guard<argo::locallock::ticket_lock> held(lock);

            expect(!inside);
            inside = true;
            sum[1024 * me]++;
            std::this_thread::yield();
            inside = false;
        }
    });
    expect(sum[1024 * me] == 50L * threads);
    expect(other.try_lock() && !other.try_lock() && !other.is_contended());
    std::thread second([&] { other.lock(); });
    while (!other.is_contended())
        std::this_thread::yield();
    other.unlock();
    second.join();
    expect(!other.try_lock());
    other.unlock();
    argo::barrier();
    argo::codelete_array(sum);
}

// Of all threads: what each wrote before is seen by each afterwards.
void
barriers()
{
    const int n = threads * nodes;
    long     *array = argo::conew_array<long>(512 * n);

    on_threads([=](int t) {
        for (int round = 1; round < 6; round++) {
            array[512 * t] = round;
            argo::barrier(threads);
            for (int i = 0; i < n; i++)
                expect(array[512 * i] == round);
            argo::barrier(threads);
        }
    });
    argo::barrier_upgrade_writers();
    argo::barrier_upgrade_all();
    argo::codelete_array(array);
}

template <class T>
void
numbers_of()
{
    const int n = threads * nodes;
    T        *word = argo::conew_array<T>(16);

    on_threads([=](int t) {
        global_ptr<T> sum(&word[1]), bit(&word[3]), last(&word[2]);

        for (int i = 0; i < 5; i++)
            atomics::fetch_add(sum, 1);
        while (!atomics::compare_exchange(bit, t, t + 1))
            std::this_thread::yield();
        atomics::exchange(last, t + 1, argo::atomic::memory_order::relaxed);
    });
    argo::barrier();
    expect(atomics::load(global_ptr<T>(&word[1])) == T(5 * n));
    expect(atomics::load(global_ptr<T>(&word[3])) == T(n));
    expect(word[0] == 0 && word[4] == 0);
    argo::barrier();
    if (me == 0)
        atomics::store(global_ptr<T>(&word[1]), 9);
    argo::barrier();
    expect(word[1] == 9 && word[2] >= 1 && word[2] <= T(n));
    argo::barrier();
    argo::codelete_array(word);
}

void
pointers_add()
{
    double  *array = argo::conew_array<double>(64);
    double **next = argo::conew_<double *>(array);

    on_threads([=](int) {
        double *mine = atomics::fetch_add(global_ptr<double *>(next), 2);

        expect(mine >= array && (mine - array) % 2 == 0);
        *mine = 1;
    });
    argo::barrier();
    expect(*next == array + 2 * threads * nodes);
    for (int i = 0; i < threads * nodes; i++)
        expect(array[2 * i] == 1 && array[2 * i + 1] == 0);
    argo::barrier();
    argo::codelete_(next);
    argo::codelete_array(array);
}

// By messages that the program sends itself.
void
releases()
{
    int *array = argo::conew_array<int>(5000);

    if (me == 0) {
        for (int i = 0; i < 5000; i++)
            array[i] = i + 1;
        argo::backend::selective_release(array, 0);
        argo::backend::selective_release(array, 5000 * sizeof(int));
    }
    expect(argo::synchronization::broadcast(0, me + 5) == 5);
    argo::backend::selective_acquire(array, 5000 * sizeof(int));
    expect(array[4999] == 5000);
    MPI_Barrier(MPI_COMM_WORLD);
    if (me == nodes - 1) {
        array[0] = -1;
        argo::backend::release();
    }
    MPI_Barrier(MPI_COMM_WORLD);
    argo::backend::acquire();
    expect(array[0] == -1);
    argo::barrier();
    argo::codelete_array(array);
}

void
containers()
{
    std::list<int, argo::allocators::dynamic_allocator<int>> l;

    for (int i = 0; i < 50; i++)
        l.push_back(i);
    expect(argo::is_argo_address(&l.back()) && l.back() == 49);
    void *p = collective_alloc(100), *q = dynamic_alloc(100);

    expect(argo::is_argo_address(static_cast<char *>(p)));
    dynamic_free(q);
    argo::barrier();
    collective_free(p);
}

} // namespace

int
main(int argc, char **argv)
{
    argo::init(64 << 20);
    me = argo::node_id();
    nodes = argo::number_of_nodes();
    if (argc > 1 && std::strcmp(argv[1], "lock_twice") == 0) {
        argo::globallock::cohort_lock twice;

        if (me == 0) {
            twice.lock();
            twice.lock();
        }
        argo::barrier();
    }
    auto *cohort = new argo::globallock::cohort_lock();

    nodes_and_addresses();
    objects();
    objects_of_one_node();
    locks(cohort);
    locks_of_a_node();
    barriers();
    numbers_of<int>();
    numbers_of<unsigned long>();
    numbers_of<double>();
    numbers_of<float>();
    numbers_of<signed char>();
    numbers_of<short>();
    pointers_add();
    releases();
    containers();
    delete cohort;
    int *all = argo::conew_<int>(0);
    atomics::fetch_add(global_ptr<int>(all), wrong);
    argo::barrier();
    if (me == 0)
        std::printf("%s\n", *all == 0 ? "right" : "WRONG");
    argo::finalize();
}
