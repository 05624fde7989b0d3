// SPDX-License-Identifier: BSD-2-Clause
/**
 * @file hearth.hpp
 * @brief Hearth for C++17: memory for containers, locks for std::lock_guard,
 * arrays with a layout, atomic steps.  Header only; doc/languages.md has
 * examples.
 *
 * A container in the heap has itself, all its elements and what these point to
 * in the heap: nested ones take the allocator, too.  Objects with virtual
 * functions do not belong there unless all ranks run one program at the same
 * addresses (no PIE, or no randomisation).
 */
#ifndef HEARTH_HPP
#define HEARTH_HPP

#if __cplusplus < 201703L
#error "hearth.hpp needs C++17 or later: compile with -std=c++17"
#endif

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <hearth/hearth.h>
#include <limits>
#include <mutex>
#include <new>
#include <string>
#include <type_traits>
#include <utility>

namespace hearth {

/** Memory of hearth_malloc(), at home on this rank or on the one named, and of
 *  hearth_aligned_alloc() for types that are aligned to more than 16 bytes.
 *  Local: what one rank allocates any other may free, so all allocators are
 *  equal. */
template <class T> class allocator {
  public:
    using value_type = T;
    using is_always_equal = std::true_type;
    using propagate_on_container_move_assignment = std::true_type;
    using propagate_on_container_swap = std::true_type;

    allocator() noexcept = default;
    explicit allocator(int home) noexcept : home_(home)
    {
    }
    template <class U>
    allocator(const allocator<U> &other) noexcept : home_(other.home())
    {
    }

    T *
    allocate(std::size_t n)
    {
        if (n > std::numeric_limits<std::size_t>::max() / sizeof(T))
            throw std::bad_array_new_length();
        return static_cast<T *>(memory(n * sizeof(T)));
    }

    void
    deallocate(T *p, std::size_t) noexcept
    {
        hearth_free(p);
    }

    /** The rank named, or -1. */
    int
    home() const noexcept
    {
        return home_;
    }

  private:
    void *
    memory(std::size_t bytes) const
    {
        if (alignof(T) > 16)
            return home_ < 0
                       ? hearth_aligned_alloc(alignof(T), bytes)
                       : hearth_aligned_alloc_on(alignof(T), bytes, home_);
        return home_ < 0 ? hearth_malloc(bytes)
                         : hearth_malloc_on(bytes, home_);
    }

    int home_ = -1;
};

template <class T, class U>
bool
operator==(const allocator<T> &, const allocator<U> &) noexcept
{
    return true;
}

template <class T, class U>
bool
operator!=(const allocator<T> &, const allocator<U> &) noexcept
{
    return false;
}

/** A lock of hearth_lock(), by its number or by an address that means the same
 *  to all ranks.  Each rank has a mutex of its own for it; those of one number
 *  are one lock. */
class mutex {
  public:
    explicit mutex(int lock) noexcept : lock_(lock)
    {
    }
    explicit mutex(const void *address) : lock_(hearth_lock_of(address))
    {
    }
    mutex(const mutex &) = delete;
    mutex &operator=(const mutex &) = delete;

    void
    lock()
    {
        hearth_lock(lock_);
    }

    bool
    try_lock()
    {
        return hearth_trylock(lock_);
    }

    void
    unlock()
    {
        hearth_unlock(lock_);
    }

    int
    native_handle() const noexcept
    {
        return lock_;
    }

  private:
    int lock_;
};

/** A reader-writer lock of hearth_wrlock() and hearth_rdlock(), for
 *  std::unique_lock and std::shared_lock. */
class shared_mutex {
  public:
    explicit shared_mutex(int rwlock) noexcept : rwlock_(rwlock)
    {
    }
    shared_mutex(const shared_mutex &) = delete;
    shared_mutex &operator=(const shared_mutex &) = delete;

    void
    lock()
    {
        hearth_wrlock(rwlock_);
    }

    bool
    try_lock()
    {
        return hearth_trywrlock(rwlock_);
    }

    void
    unlock()
    {
        hearth_rwunlock(rwlock_);
    }

    void
    lock_shared()
    {
        hearth_rdlock(rwlock_);
    }

    bool
    try_lock_shared()
    {
        return hearth_tryrdlock(rwlock_);
    }

    void
    unlock_shared()
    {
        hearth_rwunlock(rwlock_);
    }

    int
    native_handle() const noexcept
    {
        return rwlock_;
    }

  private:
    int rwlock_;
};

/** A condition variable of hearth_cond_wait(); look again, or give what is
 *  waited for. */
class condition_variable {
  public:
    explicit condition_variable(int cond) noexcept : cond_(cond)
    {
    }
    condition_variable(const condition_variable &) = delete;
    condition_variable &operator=(const condition_variable &) = delete;

    void
    wait(std::unique_lock<mutex> &held)
    {
        hearth_cond_wait(cond_, held.mutex()->native_handle());
    }

    template <class Predicate>
    void
    wait(std::unique_lock<mutex> &held, Predicate done)
    {
        while (!done())
            wait(held);
    }

    void
    notify_one()
    {
        hearth_cond_signal(cond_);
    }

    void
    notify_all()
    {
        hearth_cond_broadcast(cond_);
    }

  private:
    int cond_;
};

/** An array of hearth_alloc(), zero-filled.  Making and destroying one is
 *  collective, and so is assigning to one that has memory: in the same order on
 *  all ranks, before hearth_finalize().  Moving is local. */
template <class T> class array {
    static_assert(std::is_trivially_copyable_v<T>,
                  "elements begin as zeros and end without a destructor");

  public:
    using value_type = T;
    using size_type = std::size_t;
    using iterator = T *;
    using const_iterator = const T *;

    array() noexcept = default;
    explicit array(std::size_t count, hearth_layout layout = hearth_block())
        : data_(static_cast<T *>(hearth_alloc(count, sizeof(T), layout))),
          size_(count)
    {
    }
    ~array()
    {
        reset();
    }
    array(const array &) = delete;
    array &operator=(const array &) = delete;
    array(array &&other) noexcept
        : data_(std::exchange(other.data_, nullptr)),
          size_(std::exchange(other.size_, 0))
    {
    }
    array &
    operator=(array &&other)
    {
        if (this != &other) {
            reset();
            data_ = std::exchange(other.data_, nullptr);
            size_ = std::exchange(other.size_, 0);
        }
        return *this;
    }

    /** Free the memory.  Collective. */
    void
    reset()
    {
        if (data_ != nullptr)
            hearth_free(data_);
        data_ = nullptr;
        size_ = 0;
    }

    T &
    operator[](std::size_t i) const noexcept
    {
        return data_[i];
    }

    T *
    data() const noexcept
    {
        return data_;
    }

    std::size_t
    size() const noexcept
    {
        return size_;
    }

    bool
    empty() const noexcept
    {
        return size_ == 0;
    }

    T *
    begin() const noexcept
    {
        return data_;
    }

    T *
    end() const noexcept
    {
        return data_ + size_;
    }

  private:
    T          *data_ = nullptr;
    std::size_t size_ = 0;
};

/** The order of an atomic step, which orders nothing else: hearth::relaxed, or
 *  from C++20 on std::memory_order_relaxed.  No other compiles. */
struct relaxed_order {
    constexpr relaxed_order() noexcept = default;
#if defined __cpp_consteval
    consteval relaxed_order(std::memory_order order)
    {
        if (order != std::memory_order_relaxed)
            atomic_steps_order_nothing_else();
    }

  private:
    static void atomic_steps_order_nothing_else(); // no constant: an error
#endif
};
inline constexpr relaxed_order relaxed{};

/** A word of 4 or 8 bytes in the heap, as with std::atomic_ref, by the atomic
 *  steps of hearth_fetch_add(): each is done at the word's home.  The order is
 *  to be named, since none means sequential consistency elsewhere; so there
 *  are no operators.  (std::atomic_ref, std::atomic and C11's atomics are
 *  wrong on memory that ranks of several nodes share: they change the copy of
 *  one node.) */
template <class T> class atomic_ref
{
    static_assert(std::is_trivially_copyable_v<T>, "it is copied as bytes");
    static_assert(sizeof(T) == 4 || sizeof(T) == 8,
                  "atomic steps are on 4 or 8 bytes");

    static constexpr bool wide = sizeof(T) == 8;
    static constexpr bool whole = std::is_integral_v<T>;
    using word = std::conditional_t<wide, std::int64_t, std::int32_t>;

  public:
    using value_type = T;
    static constexpr std::size_t required_alignment = sizeof(T);

    explicit atomic_ref(T &object) noexcept
        : word_(reinterpret_cast<word *>(&object))
    {
    }
    atomic_ref(const atomic_ref &) noexcept = default;
    atomic_ref &operator=(const atomic_ref &) = delete;

    T load(relaxed_order) const
    {
        return value(sum(0));
    }

    void store(T desired, relaxed_order order) const
    {
        exchange(desired, order);
    }

    T exchange(T desired, relaxed_order) const
    {
        if constexpr (wide)
            return value(hearth_swap(word_, bits(desired)));
        else
            return value(hearth_swap32(word_, bits(desired)));
    }

    bool compare_exchange_strong(T &expected, T desired, relaxed_order) const
    {
        const word before = bits(expected);
        word       was;

        if constexpr (wide)
            was = hearth_compare_swap(word_, before, bits(desired));
        else
            was = hearth_compare_swap32(word_, before, bits(desired));
        if (was != before)
            expected = value(was);
        return was == before;
    }

    bool compare_exchange_strong(T &expected, T desired, relaxed_order order,
                                 relaxed_order) const
    {
        return compare_exchange_strong(expected, desired, order);
    }

    bool compare_exchange_weak(T &expected, T desired,
                               relaxed_order order) const
    {
        return compare_exchange_strong(expected, desired, order);
    }

    bool compare_exchange_weak(T &expected, T desired, relaxed_order order,
                               relaxed_order) const
    {
        return compare_exchange_strong(expected, desired, order);
    }

    /** Of integers, and of double. */
    T fetch_add(T by, relaxed_order) const
    {
        static_assert(whole || std::is_same_v<T, double>,
                      "sums are of integers and of double");
        if constexpr (whole)
            return value(sum(bits(by)));
        else
            return hearth_fetch_add_double(reinterpret_cast<double *>(word_),
                                           by);
    }

    /** hearth_add(): an add that is done when this rank next synchronises. */
    void add(T by, relaxed_order) const
    {
        static_assert(whole || std::is_same_v<T, double>,
                      "sums are of integers and of double");
        if constexpr (!whole)
            hearth_add_double(reinterpret_cast<double *>(word_), by);
        else if constexpr (wide)
            hearth_add(word_, bits(by));
        else
            hearth_add32(word_, bits(by));
    }

    /** hearth_wait_until() of HEARTH_EQ and so on: what it was then. */
    T wait_until(int how, T than, relaxed_order) const
    {
        static_assert(whole && wide && std::is_signed_v<T>,
                      "a word that is waited for is of int64_t");
        return value(hearth_wait_until(word_, how, bits(than)));
    }

    T fetch_sub(T by, relaxed_order order) const
    {
        return fetch_add(static_cast<T>(T(0) - by), order);
    }

    T fetch_and(T by, relaxed_order) const
    {
        static_assert(whole, "bits are of integers");
        if constexpr (wide)
            return value(hearth_fetch_and(word_, bits(by)));
        else
            return value(hearth_fetch_and32(word_, bits(by)));
    }

    T fetch_or(T by, relaxed_order) const
    {
        static_assert(whole, "bits are of integers");
        if constexpr (wide)
            return value(hearth_fetch_or(word_, bits(by)));
        else
            return value(hearth_fetch_or32(word_, bits(by)));
    }

    T fetch_xor(T by, relaxed_order) const
    {
        static_assert(whole, "bits are of integers");
        if constexpr (wide)
            return value(hearth_fetch_xor(word_, bits(by)));
        else
            return value(hearth_fetch_xor32(word_, bits(by)));
    }

  private:
    word sum(word by) const
    {
        if constexpr (wide)
            return hearth_fetch_add(word_, by);
        else
            return hearth_fetch_add32(word_, by);
    }

    static word bits(T of) noexcept
    {
        word w;

        std::memcpy(&w, &of, sizeof w);
        return w;
    }

    static T value(word of) noexcept
    {
        T t;

        std::memcpy(&t, &of, sizeof t);
        return t;
    }

    word *word_;
};

/** An object of this rank that belongs to its checkpoints under a name, from
 *  its making to its end: hearth_checkpoint_add() and
 *  hearth_checkpoint_remove(); so before hearth_finalize().  It is `first`, or
 *  in a run that was restarted what it was then. */
template <class T> class saved {
    static_assert(std::is_trivially_copyable_v<T>, "it is copied as bytes");

  public:
    using value_type = T;

    explicit saved(const char *name, const T &first = T())
        : value_(first), name_(name),
          restored_(hearth_checkpoint_add(&value_, sizeof(T), name))
    {
    }
    ~saved()
    {
        hearth_checkpoint_remove(name_.c_str());
    }
    saved(const saved &) = delete;
    saved &operator=(const saved &) = delete;

    /** Whether the checkpoint has it. */
    bool
    restored() const noexcept
    {
        return restored_;
    }

    T &
    operator*() noexcept
    {
        return value_;
    }

    T *
    operator->() noexcept
    {
        return &value_;
    }

    /** What a rank of the run before had: hearth_checkpoint_read(). */
    static T
    of(int rank, const char *name)
    {
        T value{};

        hearth_checkpoint_read(rank, name, &value, sizeof value);
        return value;
    }

  private:
    T           value_;
    std::string name_;
    bool        restored_;
};

/** hearth_checkpoint() in a folder; without one in HEARTH_CHECKPOINT, if one is
 *  due.  Collective. */
inline bool
checkpoint(const std::string &where)
{
    return hearth_checkpoint(where.c_str());
}

inline bool
checkpoint()
{
    return hearth_checkpoint(nullptr);
}

/** A team of ranks: hearth_team_of() and hearth_team_free(). */
class team {
  public:
    explicit team(MPI_Comm comm) : team_(hearth_team_of(comm)) {}
    ~team() { hearth_team_free(team_); }

    team(const team &) = delete;
    team &operator=(const team &) = delete;

    void barrier() { hearth_team_barrier(team_); }

    /** So many zeros of a type that may be copied as bytes. */
    template <typename T> T *alloc(std::size_t count)
    {
        static_assert(std::is_trivially_copyable_v<T>,
                      "memory of a team holds what is zero at first");
        return static_cast<T *>(hearth_team_alloc(team_, count, sizeof(T)));
    }

  private:
    hearth_team *team_;
};

} // namespace hearth

#endif
