// SPDX-License-Identifier: BSD-2-Clause
/**
 * @file argo.hpp
 * @brief The programming interface of ArgoDSM, over Hearth.
 *
 * A program written for ArgoDSM is compiled and started like any other program
 * of Hearth, as C++17:
 *
 *     mpicxx -std=c++17 -o prog prog.cpp \
 *         $(pkg-config --cflags --libs hearth) \
 *         -I$(pkg-config --variable=includedir hearth)/argo
 *     mpirun -n 4 ./prog
 *
 * **Nodes** are the ranks of MPI_COMM_WORLD, each with threads of its own, as
 * in ArgoDSM.  There may be one on each host or several: those of a host share
 * its memory.
 *
 * **Memory** of argo::init(bytes) is addresses: HEARTH_HEAP is set to it where
 * it is more than that is.  conew_, conew_array and what frees them are
 * collective; new_ and its like are of one node.  All memory begins with
 * zeros in the collective calls, and with anything in the others.
 *
 * **Data distribution**: ARGO_ALLOCATION_POLICY and ARGO_ALLOCATION_BLOCK_SIZE
 * choose the layout of collective allocations: 0, the default, equal
 * contiguous parts (hearth_block()), which is what ArgoDSM's naive policy is
 * when the memory is as large as what is allocated; 1 to 3, blocks of so many
 * pages of 4 KiB dealt in turn (hearth_cyclic(); there are no other orders);
 * 4, first touch (hearth_first_touch()).
 *
 * **Locks** are Hearth's, in the order in which threads came, whichever of the
 * classes of globallock is used; the field that global_tas_lock is given tells
 * which one and is not written.  Those of locallock are for the threads of one
 * node.
 *
 * **Atomic steps** act at the home of their word.  What is read or written
 * without them may be an old copy until the next barrier, lock, acquire or
 * release, as with ArgoDSM.
 *
 * What is not there: the C interface (argo.h), ArgoDSM's own allocators and
 * memory pools, is_cached() and what the page calls internal.
 */
#ifndef ARGO_ARGO_HPP
#define ARGO_ARGO_HPP

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <hearth/hearth.hpp>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <type_traits>
#include <utility>

namespace argo
{

using node_id_t = int;
using memory_t = char *;

/** What the functions that allocate and free are to do, if not what they do by
 *  default. */
enum class allocation {
    initialize,
    no_initialize,
    deinitialize,
    no_deinitialize,
    synchronize,
    no_synchronize
};

namespace hearth_detail
{

template <allocation Which, allocation... Given>
inline constexpr bool given = ((Which == Given) || ...);

/* yes or no if the program says so, or what is usual. */
template <allocation Yes, allocation No, allocation... Given>
constexpr bool
chosen(bool usual)
{
    static_assert(!(given<Yes, Given...> && given<No, Given...>),
                  "the two contradict each other");
    if (given<Yes, Given...>)
        return true;
    return given<No, Given...> ? false : usual;
}

template <allocation... Given>
constexpr bool
initializes(bool usual)
{
    return chosen<allocation::initialize, allocation::no_initialize, Given...>(
        usual);
}

template <allocation... Given>
constexpr bool
deinitializes(bool usual)
{
    return chosen<allocation::deinitialize, allocation::no_deinitialize,
                  Given...>(usual);
}

template <allocation... Given>
constexpr bool
synchronizes(bool usual)
{
    return chosen<allocation::synchronize, allocation::no_synchronize,
                  Given...>(usual);
}

inline std::size_t
number_of(const char *variable, std::size_t otherwise)
{
    const char *text = std::getenv(variable);

    return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

inline hearth_layout
layout()
{
    const std::size_t policy = number_of("ARGO_ALLOCATION_POLICY", 0);
    const std::size_t pages = number_of("ARGO_ALLOCATION_BLOCK_SIZE", 16);

    if (policy == 0)
        return hearth_block();
    if (policy == 4)
        return hearth_first_touch();
    return hearth_cyclic(pages > 0 ? pages : 1);
}

/* Arrays whose elements have a destructor know how many they are. */
template <class T>
inline constexpr bool counted = !std::is_trivially_destructible_v<T>;

inline constexpr std::size_t count_room = alignof(std::max_align_t);

template <class T>
std::size_t
array_bytes(std::size_t count)
{
    static_assert(alignof(T) <= alignof(std::max_align_t),
                  "memory is aligned as malloc() does");
    if (count > (SIZE_MAX - count_room) / sizeof(T))
        throw std::bad_array_new_length();
    return count * sizeof(T) + (counted<T> ? count_room : 0);
}

template <class T>
T *
array_at(void *memory)
{
    return reinterpret_cast<T *>(static_cast<char *>(memory) +
                                 (counted<T> ? count_room : 0));
}

template <class T>
void *
array_memory(T *array)
{
    return reinterpret_cast<char *>(array) - (counted<T> ? count_room : 0);
}

template <class T>
void
array_make(T *array, std::size_t count, bool initialize)
{
    if (counted<T>)
        std::memcpy(array_memory(array), &count, sizeof count);
    if (initialize)
        std::uninitialized_value_construct_n(array, count);
}

template <class T>
void
array_destroy(T *array)
{
    std::size_t count;

    std::memcpy(&count, array_memory(array), sizeof count);
    std::destroy_n(array, count);
}

/* The threads of a node: the last one that comes meets the other nodes. */
struct barrier {
    std::mutex              mutex;
    std::condition_variable passed;
    std::size_t             waiting = 0;
    std::uint64_t           rounds = 0;
};
inline barrier  threads;
inline MPI_Comm comm = MPI_COMM_NULL;

} // namespace hearth_detail

// ---- start, end, nodes ----

/** Start, on all ranks of MPI_COMM_WORLD.  Collective.  Of the sizes, which
 * may be left out or come from ARGO_MEMORY_SIZE, only the first one counts. */
inline void
init(std::size_t argo_size = 0, std::size_t cache_size = 0)
{
    constexpr std::size_t usual = std::size_t(256) << 30;

    (void)cache_size;
    if (argo_size == 0)
        argo_size = hearth_detail::number_of("ARGO_MEMORY_SIZE", 0);
    if (argo_size > usual)
        setenv("HEARTH_HEAP", std::to_string(argo_size).c_str(), 0);
    hearth_init(MPI_COMM_WORLD);
    hearth_cluster_comm(&hearth_detail::comm);
}

/** Stop.  Collective. */
inline void
finalize()
{
    MPI_Comm_free(&hearth_detail::comm);
    hearth_finalize();
}

inline int
node_id()
{
    return hearth_rank();
}

inline int
number_of_nodes()
{
    return hearth_size();
}

/** Is it in an allocation? */
template <class T>
bool
is_argo_address(T *addr)
{
    return hearth_home(addr) >= 0;
}

template <class T>
int
get_homenode(T *addr)
{
    return hearth_home(addr);
}

/** Bytes that one node has in turn: of the cyclic policies, else of a page. */
inline std::size_t
get_block_size()
{
    const hearth_layout l = hearth_detail::layout();

    return 4096 * (l.kind == HEARTH_CYCLIC ? l.pages : 1);
}

/** Wait for so many threads of each node; afterwards all see all writes. */
inline void
barrier(std::size_t threadcount = 1)
{
    hearth_detail::barrier      &b = hearth_detail::threads;
    std::unique_lock<std::mutex> held(b.mutex);
    const std::uint64_t          round = b.rounds;

    if (++b.waiting < threadcount) {
        b.passed.wait(held, [&] { return b.rounds != round; });
        return;
    }
    hearth_barrier();
    b.waiting = 0;
    b.rounds++;
    b.passed.notify_all();
}

inline void
barrier_upgrade_writers(std::size_t threadcount = 1)
{
    barrier(threadcount);
}

inline void
barrier_upgrade_all(std::size_t threadcount = 1)
{
    barrier(threadcount);
}

// ---- data distribution ----

namespace data_distribution
{

inline constexpr node_id_t   invalid_node_id = -1;
inline constexpr std::size_t invalid_offset = SIZE_MAX;
inline constexpr std::size_t granularity = 4096;

/** A pointer into shared memory. */
template <class T> class global_ptr
{
  public:
    global_ptr() noexcept = default;
    global_ptr(T *ptr, bool = true, bool = true) noexcept : ptr_(ptr)
    {
    }
    template <class U>
    explicit global_ptr(global_ptr<U> other) noexcept : ptr_(other.get())
    {
    }

    T *get() const noexcept
    {
        return ptr_;
    }

    template <class U = T>
    std::add_lvalue_reference_t<U> operator*() const noexcept
    {
        return *ptr_;
    }

    T *operator->() const noexcept
    {
        return ptr_;
    }

    node_id_t node() const
    {
        return hearth_home(ptr_);
    }

    node_id_t peek_node() const
    {
        return hearth_home(ptr_);
    }

    /** In the heap. */
    std::size_t offset() const
    {
        return hearth_offset(ptr_);
    }

  private:
    T *ptr_ = nullptr;
};

} // namespace data_distribution

// ---- atomic steps, acquire and release ----

namespace atomic
{

enum class memory_order { relaxed, acquire, release, acq_rel };

} // namespace atomic

namespace backend
{

using argo::barrier;
using argo::finalize;
using argo::init;
using argo::node_id;
using argo::number_of_nodes;
using argo::data_distribution::global_ptr;

/** Loads see what was released before. */
inline void
acquire()
{
    hearth_acquire(nullptr, 0);
}

/** What was written is at its home. */
inline void
release()
{
    hearth_release(nullptr, 0);
}

/** The same of some bytes; of 0, nothing. */
template <class T>
void
selective_acquire(T *addr, std::size_t size)
{
    if (size > 0)
        hearth_acquire(addr, size);
}

template <class T>
void
selective_release(T *addr, std::size_t size)
{
    if (size > 0)
        hearth_release(addr, size);
}

/** Copy an object of one node to all.  Collective. */
template <class T>
void
broadcast(node_id_t source, T *ptr)
{
    static_assert(std::is_trivially_copyable_v<T>, "it is copied as bytes");
    MPI_Bcast(ptr, sizeof(T), MPI_BYTE, source, hearth_detail::comm);
}

/** Count from 0 what HEARTH_STATS reports. */
inline void
reset_stats()
{
    hearth_stats_start();
}

/** Nothing has to be reset: a barrier.  Collective. */
inline void
reset_coherence()
{
    argo::barrier();
}

namespace atomic
{

using namespace argo::atomic;

} // namespace atomic
} // namespace backend

namespace hearth_detail
{

using argo::atomic::memory_order;

inline void
before(memory_order order)
{
    if (order == memory_order::acq_rel || order == memory_order::release)
        hearth_release(nullptr, 0);
}

inline void
after(memory_order order)
{
    if (order == memory_order::acq_rel || order == memory_order::acquire)
        hearth_acquire(nullptr, 0);
}

/* Words of 4 and 8 bytes are Hearth's; one that is smaller is a part of a word
 * of 4, which is compared and swapped until nothing came in between. */
template <class T> class cell
{
    static_assert(std::is_trivially_copyable_v<T>, "it is copied as bytes");
    static_assert(sizeof(T) <= 8 && (sizeof(T) & (sizeof(T) - 1)) == 0,
                  "atomic steps are on 1, 2, 4 or 8 bytes");

    static constexpr bool part = sizeof(T) < 4;
    static constexpr bool sums =
        sizeof(T) >= 4 && (std::is_integral_v<T> || std::is_same_v<T, double>);

  public:
    explicit cell(T *object) : object_(object)
    {
    }

    T load() const
    {
        if constexpr (part)
            return part_of(hearth_fetch_add32(word(), 0));
        else
            return ref().load(hearth::relaxed);
    }

    T exchange(T desired) const
    {
        if constexpr (part)
            return change([&](T) { return desired; });
        else
            return ref().exchange(desired, hearth::relaxed);
    }

    bool compare_exchange(T expected, T desired) const
    {
        if constexpr (part)
            return same(change([&](T was) {
                            return same(was, expected) ? desired : was;
                        }),
                        expected);
        else
            return ref().compare_exchange_strong(expected, desired,
                                                 hearth::relaxed);
    }

    T fetch_add(T by) const
    {
        if constexpr (sums)
            return ref().fetch_add(by, hearth::relaxed);
        else
            return change([&](T was) { return static_cast<T>(was + by); });
    }

  private:
    hearth::atomic_ref<T> ref() const
    {
        return hearth::atomic_ref<T>(*object_);
    }

    static bool same(T a, T b)
    {
        return std::memcmp(&a, &b, sizeof(T)) == 0;
    }

    std::size_t at() const
    {
        return reinterpret_cast<std::uintptr_t>(object_) % 4;
    }

    std::int32_t *word() const
    {
        return reinterpret_cast<std::int32_t *>(
            reinterpret_cast<char *>(object_) - at());
    }

    T part_of(std::int32_t whole) const
    {
        T t;

        std::memcpy(&t, reinterpret_cast<char *>(&whole) + at(), sizeof t);
        return t;
    }

    template <class F> T change(F next) const
    {
        if constexpr (part) {
            std::int32_t was = hearth_fetch_add32(word(), 0), seen;

            for (;; was = seen) {
                const T      t = next(part_of(was));
                std::int32_t wanted = was;

                std::memcpy(reinterpret_cast<char *>(&wanted) + at(), &t,
                            sizeof t);
                seen = hearth_compare_swap32(word(), was, wanted);
                if (seen == was)
                    return part_of(was);
            }
        } else {
            T was = ref().load(hearth::relaxed);

            while (!ref().compare_exchange_strong(was, next(was),
                                                  hearth::relaxed))
                ;
            return was;
        }
    }

    T *object_;
};

} // namespace hearth_detail

namespace backend::atomic
{

template <class T, class U>
T
exchange(global_ptr<T> obj, U desired,
         memory_order order = memory_order::acq_rel)
{
    hearth_detail::before(order);
    const T was = hearth_detail::cell<T>(obj.get()).exchange(T(desired));
    hearth_detail::after(order);
    return was;
}

template <class T, class U>
void
store(global_ptr<T> obj, U desired, memory_order order = memory_order::release)
{
    exchange(obj, desired, order);
}

template <class T>
T
load(global_ptr<T> obj, memory_order order = memory_order::acquire)
{
    hearth_detail::before(order);
    const T is = hearth_detail::cell<T>(obj.get()).load();
    hearth_detail::after(order);
    return is;
}

template <class T, class U, class V>
bool
compare_exchange(global_ptr<T> obj, U expected, V desired,
                 memory_order order = memory_order::acq_rel)
{
    hearth_detail::before(order);
    const bool done = hearth_detail::cell<T>(obj.get()).compare_exchange(
        T(expected), T(desired));
    hearth_detail::after(order);
    return done;
}

template <class T, class U>
T
fetch_add(global_ptr<T> obj, U value,
          memory_order order = memory_order::acq_rel)
{
    static_assert(std::is_arithmetic_v<T>, "sums are of numbers");
    hearth_detail::before(order);
    const T was = hearth_detail::cell<T>(obj.get()).fetch_add(T(value));
    hearth_detail::after(order);
    return was;
}

/** Of a pointer, by elements. */
template <class T, class U>
T *
fetch_add(global_ptr<T *> obj, U value,
          memory_order order = memory_order::acq_rel)
{
    using word = std::intptr_t;

    hearth_detail::before(order);
    const word was =
        hearth_detail::cell<word>(reinterpret_cast<word *>(obj.get()))
            .fetch_add(static_cast<word>(value) *
                       static_cast<word>(sizeof(T)));
    hearth_detail::after(order);
    return reinterpret_cast<T *>(was);
}

} // namespace backend::atomic

namespace synchronization
{

/** What one node has, on all.  Collective. */
template <class T>
T
broadcast(node_id_t from, const T value)
{
    T v = value;

    backend::broadcast(from, &v);
    return v;
}

} // namespace synchronization

// ---- memory, by all nodes together ----

/** An object, made by its home node if it has a constructor or arguments are
 *  given, and then a barrier.  Collective. */
template <class T, allocation... Given, class... Args>
T *
conew_(Args &&...args)
{
    constexpr bool make = hearth_detail::initializes<Given...>(
        !std::is_trivial_v<T> || sizeof...(Args) > 0);
    void *memory = hearth_alloc(1, sizeof(T), hearth_detail::layout());

    if constexpr (make)
        if (hearth_home(memory) == hearth_rank())
            new (memory) T(std::forward<Args>(args)...);
    if constexpr (hearth_detail::synchronizes<Given...>(make))
        hearth_barrier();
    return static_cast<T *>(memory);
}

template <class T, allocation... Given>
void
codelete_(T *ptr)
{
    constexpr bool destroy = hearth_detail::deinitializes<Given...>(
        !std::is_trivially_destructible_v<T>);

    if (ptr == nullptr)
        return;
    if constexpr (destroy)
        if (hearth_home(ptr) == hearth_rank())
            ptr->~T();
    if constexpr (hearth_detail::synchronizes<Given...>(destroy))
        hearth_barrier();
    hearth_free(ptr);
}

/** The same of an array. */
template <class T, allocation... Given>
T *
conew_array(std::size_t size)
{
    constexpr bool counted = hearth_detail::counted<T>;
    constexpr bool make =
        hearth_detail::initializes<Given...>(!std::is_trivial_v<T>);
    constexpr std::size_t unit = counted ? 1 : sizeof(T);
    void *memory = hearth_alloc(hearth_detail::array_bytes<T>(size) / unit,
                                unit, hearth_detail::layout());
    T    *array = hearth_detail::array_at<T>(memory);

    if constexpr (make || counted)
        if (hearth_home(memory) == hearth_rank())
            hearth_detail::array_make(array, size, make);
    if constexpr (counted || hearth_detail::synchronizes<Given...>(make))
        hearth_barrier();
    return array;
}

template <class T, allocation... Given>
void
codelete_array(T *ptr)
{
    constexpr bool destroy =
        hearth_detail::deinitializes<Given...>(hearth_detail::counted<T>);

    if (ptr == nullptr)
        return;
    void *memory = hearth_detail::array_memory(ptr);
    if constexpr (destroy && hearth_detail::counted<T>)
        if (hearth_home(memory) == hearth_rank())
            hearth_detail::array_destroy(ptr);
    if constexpr (hearth_detail::synchronizes<Given...>(destroy))
        hearth_barrier();
    hearth_free(memory);
}

// ---- memory, by one node ----

/** An object, made if it has a constructor or arguments are given.  Local. */
template <class T, allocation... Given, class... Args>
T *
new_(Args &&...args)
{
    constexpr bool make = hearth_detail::initializes<Given...>(
        !std::is_trivial_v<T> || sizeof...(Args) > 0);
    void *memory = hearth_malloc(sizeof(T));

    if constexpr (make)
        new (memory) T(std::forward<Args>(args)...);
    return static_cast<T *>(memory);
}

template <class T, allocation... Given>
void
delete_(T *ptr)
{
    if (ptr == nullptr)
        return;
    if constexpr (hearth_detail::deinitializes<Given...>(
                      !std::is_trivially_destructible_v<T>))
        ptr->~T();
    hearth_free(ptr);
}

/** The same of an array. */
template <class T, allocation... Given>
T *
new_array(std::size_t size)
{
    T *array = hearth_detail::array_at<T>(
        hearth_malloc(hearth_detail::array_bytes<T>(size)));

    hearth_detail::array_make(
        array, size,
        hearth_detail::initializes<Given...>(!std::is_trivial_v<T>));
    return array;
}

template <class T, allocation... Given>
void
delete_array(T *ptr)
{
    if (ptr == nullptr)
        return;
    if constexpr (hearth_detail::counted<T> &&
                  hearth_detail::deinitializes<Given...>(true))
        hearth_detail::array_destroy(ptr);
    hearth_free(hearth_detail::array_memory(ptr));
}

namespace allocators
{

/** For containers: memory of new_. */
template <class T> class dynamic_allocator : public hearth::allocator<T>
{
  public:
    template <class U> struct rebind {
        using other = dynamic_allocator<U>;
    };

    dynamic_allocator() noexcept = default;
    template <class U> dynamic_allocator(const dynamic_allocator<U> &) noexcept
    {
    }

    void free(T *ptr) noexcept
    {
        hearth_free(ptr);
    }
};

} // namespace allocators

// ---- locks ----

namespace globallock
{

/** The lock of a field in shared memory. */
class global_tas_lock
{
  public:
    using internal_field_type = std::size_t;

    template <class T>
    explicit global_tas_lock(T *field) noexcept : field_(field)
    {
    }

    void lock()
    {
        hearth_lock(number());
    }

    bool try_lock()
    {
        return hearth_trylock(number());
    }

    void unlock()
    {
        hearth_unlock(number());
    }

  private:
    // Relaxed: whichever thread stores it, the number is the same.
    int number()
    {
        int known = number_.load(std::memory_order_relaxed);

        if (known < 0) {
            known = hearth_lock_of(field_);
            number_.store(known, std::memory_order_relaxed);
        }
        return known;
    }

    const void      *field_;
    std::atomic<int> number_{ -1 };
};

/** A lock, which all nodes make and destroy together. */
class cohort_lock
{
  public:
    cohort_lock()
        : field_(conew_<global_tas_lock::internal_field_type>()), lock_(field_)
    {
    }
    ~cohort_lock()
    {
        if (hearth_initialized())
            codelete_(field_);
    }
    cohort_lock(const cohort_lock &) = delete;
    cohort_lock &operator=(const cohort_lock &) = delete;

    void lock()
    {
        lock_.lock();
    }

    bool try_lock()
    {
        return lock_.try_lock();
    }

    void unlock()
    {
        lock_.unlock();
    }

  private:
    global_tas_lock::internal_field_type *field_;
    global_tas_lock                       lock_;
};

} // namespace globallock

namespace locallock
{

/** A lock among the threads of one node, in the order in which they came. */
class ticket_lock
{
  public:
    void lock()
    {
        std::unique_lock<std::mutex> held(mutex_);
        const std::uint64_t          ticket = next_++;

        freed_.wait(held, [&] { return turn_ == ticket; });
    }

    bool try_lock()
    {
        std::lock_guard<std::mutex> held(mutex_);

        if (turn_ != next_)
            return false;
        next_++;
        return true;
    }

    void unlock()
    {
        std::lock_guard<std::mutex> held(mutex_);

        turn_++;
        freed_.notify_all();
    }

    /** Does a thread wait for it? */
    bool is_contended()
    {
        std::lock_guard<std::mutex> held(mutex_);

        return next_ - turn_ > 1;
    }

  private:
    std::mutex              mutex_;
    std::condition_variable freed_;
    std::uint64_t           next_ = 0, turn_ = 0;
};

using mcs_lock = ticket_lock;

} // namespace locallock
} // namespace argo

// ---- the functions of its C interface that C++ programs use, too ----

inline void *
collective_alloc(std::size_t size)
{
    return hearth_alloc(size, 1, argo::hearth_detail::layout());
}

inline void
collective_free(void *ptr)
{
    if (ptr != nullptr)
        hearth_free(ptr);
}

inline void *
dynamic_alloc(std::size_t size)
{
    return hearth_malloc(size);
}

inline void
dynamic_free(void *ptr)
{
    hearth_free(ptr);
}

#endif
