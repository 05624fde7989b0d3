! SPDX-License-Identifier: BSD-2-Clause
!
! Hearth for Fortran 2008.  Compile it with the program, by the same compiler:
!
!   mpifort program.f90 ... with this file before it; doc/languages.md.
!
! An array of the heap is what c_f_pointer makes of an address.  Names are those
! of hearth.h(3), which says what each call does.
module hearth
    use, intrinsic :: iso_c_binding
    implicit none
    public

    integer(c_int), parameter :: HEARTH_LAYOUT_BLOCK = 0, &
        HEARTH_LAYOUT_CYCLIC = 1, HEARTH_LAYOUT_ON = 2, &
        HEARTH_LAYOUT_FIRST_TOUCH = 3
    integer(c_int64_t), parameter :: HEARTH_ALL_CLUSTERS = -1
    integer(c_int), parameter :: HEARTH_READ = 1, HEARTH_WRITE = 2

    type, bind(c) :: hearth_layout
        integer(c_int)     :: kind = HEARTH_LAYOUT_BLOCK
        integer(c_int64_t) :: pages = 1
        integer(c_int)     :: rank = 0
        integer(c_int64_t) :: clusters = HEARTH_ALL_CLUSTERS
    end type

    type, bind(c) :: hearth_malloc_stats
        integer(c_int64_t) :: live, live_bytes, peak_bytes, carved_bytes
        integer(c_int64_t) :: to_send, to_take
    end type

    ! Of mpi_f08 (type(MPI_Comm)) give comm%MPI_VAL, of mpi or mpif.h comm.
    interface
        subroutine hearth_init(comm) bind(c, name='hearth_init_f')
            import :: c_int
            integer(c_int), value :: comm
        end subroutine
        subroutine hearth_finalize() bind(c)
        end subroutine
        function hearth_rank() bind(c) result(rank)
            import :: c_int
            integer(c_int) :: rank
        end function
        function hearth_size() bind(c) result(ranks)
            import :: c_int
            integer(c_int) :: ranks
        end function
        function hearth_node() bind(c) result(node)
            import :: c_int
            integer(c_int) :: node
        end function
        function hearth_nodes() bind(c) result(nodes)
            import :: c_int
            integer(c_int) :: nodes
        end function
        function hearth_node_of(rank) bind(c) result(node)
            import :: c_int
            integer(c_int), value :: rank
            integer(c_int)        :: node
        end function

        function hearth_cluster() bind(c) result(cluster)
            import :: c_int
            integer(c_int) :: cluster
        end function
        function hearth_clusters() bind(c) result(clusters)
            import :: c_int
            integer(c_int) :: clusters
        end function
        function hearth_cluster_of(rank) bind(c) result(cluster)
            import :: c_int
            integer(c_int), value :: rank
            integer(c_int)        :: cluster
        end function

        ! ---- memory ----

        function hearth_alloc(count, size, layout) bind(c) result(p)
            import :: c_size_t, c_ptr, hearth_layout
            integer(c_size_t), value   :: count, size
            type(hearth_layout), value :: layout
            type(c_ptr)                :: p
        end function
        function hearth_malloc(bytes) bind(c) result(p)
            import :: c_size_t, c_ptr
            integer(c_size_t), value :: bytes
            type(c_ptr)              :: p
        end function
        function hearth_malloc_on(bytes, rank) bind(c) result(p)
            import :: c_size_t, c_ptr, c_int
            integer(c_size_t), value :: bytes
            integer(c_int), value    :: rank
            type(c_ptr)              :: p
        end function
        function hearth_calloc(count, size) bind(c) result(p)
            import :: c_size_t, c_ptr
            integer(c_size_t), value :: count, size
            type(c_ptr)              :: p
        end function
        function hearth_aligned_alloc(alignment, bytes) bind(c) result(p)
            import :: c_size_t, c_ptr
            integer(c_size_t), value :: alignment, bytes
            type(c_ptr)              :: p
        end function
        function hearth_aligned_alloc_on(alignment, bytes, rank) bind(c) &
                result(p)
            import :: c_size_t, c_ptr, c_int
            integer(c_size_t), value :: alignment, bytes
            integer(c_int), value    :: rank
            type(c_ptr)              :: p
        end function
        function hearth_try_malloc(bytes) bind(c) result(p)
            import :: c_size_t, c_ptr
            integer(c_size_t), value :: bytes
            type(c_ptr)              :: p
        end function
        function hearth_malloc_usable_size(p) bind(c) result(bytes)
            import :: c_size_t, c_ptr
            type(c_ptr), value :: p
            integer(c_size_t)  :: bytes
        end function
        subroutine hearth_get_malloc_stats(stats, bytes) bind(c)
            import :: c_size_t, hearth_malloc_stats
            type(hearth_malloc_stats), intent(out) :: stats
            integer(c_size_t), value               :: bytes
        end subroutine
        subroutine hearth_collect() bind(c)
        end subroutine
        function hearth_realloc(p, bytes) bind(c) result(q)
            import :: c_size_t, c_ptr
            type(c_ptr), value       :: p
            integer(c_size_t), value :: bytes
            type(c_ptr)              :: q
        end function
        subroutine hearth_free(p) bind(c)
            import :: c_ptr
            type(c_ptr), value :: p
        end subroutine
        function hearth_home(p) bind(c) result(rank)
            import :: c_ptr, c_int
            type(c_ptr), value :: p
            integer(c_int)     :: rank
        end function
        subroutine hearth_prefetch(p, bytes) bind(c)
            import :: c_ptr, c_size_t
            type(c_ptr), value       :: p
            integer(c_size_t), value :: bytes
        end subroutine
        subroutine hearth_overwrite(p, bytes) bind(c)
            import :: c_ptr, c_size_t
            type(c_ptr), value       :: p
            integer(c_size_t), value :: bytes
        end subroutine
        subroutine hearth_hold(p, bytes, how) bind(c)
            import :: c_ptr, c_size_t, c_int
            type(c_ptr), value       :: p
            integer(c_size_t), value :: bytes
            integer(c_int), value    :: how
        end subroutine
        subroutine hearth_drop(p, bytes, how) bind(c)
            import :: c_ptr, c_size_t, c_int
            type(c_ptr), value       :: p
            integer(c_size_t), value :: bytes
            integer(c_int), value    :: how
        end subroutine

        ! ---- order ----

        subroutine hearth_barrier() bind(c)
        end subroutine
        subroutine hearth_lock(lock) bind(c)
            import :: c_int
            integer(c_int), value :: lock
        end subroutine
        function hearth_trylock(lock) bind(c) result(taken)
            import :: c_int, c_bool
            integer(c_int), value :: lock
            logical(c_bool)       :: taken
        end function
        function hearth_lock_of(address) bind(c) result(lock)
            import :: c_int, c_ptr
            type(c_ptr), value :: address
            integer(c_int)     :: lock
        end function
        subroutine hearth_unlock(lock) bind(c)
            import :: c_int
            integer(c_int), value :: lock
        end subroutine
        subroutine hearth_rdlock(rwlock) bind(c)
            import :: c_int
            integer(c_int), value :: rwlock
        end subroutine
        subroutine hearth_wrlock(rwlock) bind(c)
            import :: c_int
            integer(c_int), value :: rwlock
        end subroutine
        subroutine hearth_rwunlock(rwlock) bind(c)
            import :: c_int
            integer(c_int), value :: rwlock
        end subroutine
        subroutine hearth_flag_set(flag) bind(c)
            import :: c_int
            integer(c_int), value :: flag
        end subroutine
        subroutine hearth_flag_wait(flag) bind(c)
            import :: c_int
            integer(c_int), value :: flag
        end subroutine
        subroutine hearth_flag_reset(flag) bind(c)
            import :: c_int
            integer(c_int), value :: flag
        end subroutine
        subroutine hearth_cond_wait(cond, lock) bind(c)
            import :: c_int
            integer(c_int), value :: cond, lock
        end subroutine
        subroutine hearth_cond_signal(cond) bind(c)
            import :: c_int
            integer(c_int), value :: cond
        end subroutine
        subroutine hearth_cond_broadcast(cond) bind(c)
            import :: c_int
            integer(c_int), value :: cond
        end subroutine
        subroutine hearth_release(p, bytes) bind(c)
            import :: c_ptr, c_size_t
            type(c_ptr), value       :: p
            integer(c_size_t), value :: bytes
        end subroutine
        subroutine hearth_acquire(p, bytes) bind(c)
            import :: c_ptr, c_size_t
            type(c_ptr), value       :: p
            integer(c_size_t), value :: bytes
        end subroutine

        ! ---- atomic steps, on an element of a heap array ----

        function hearth_fetch_add(word, value) bind(c) result(was)
            import :: c_int64_t
            integer(c_int64_t)        :: word, was
            integer(c_int64_t), value :: value
        end function
        function hearth_swap(word, value) bind(c) result(was)
            import :: c_int64_t
            integer(c_int64_t)        :: word, was
            integer(c_int64_t), value :: value
        end function
        function hearth_compare_swap(word, expected, desired) bind(c) &
            result(was)
            import :: c_int64_t
            integer(c_int64_t)        :: word, was
            integer(c_int64_t), value :: expected, desired
        end function
        function hearth_fetch_add32(word, value) bind(c) result(was)
            import :: c_int32_t
            integer(c_int32_t)        :: word, was
            integer(c_int32_t), value :: value
        end function
        function hearth_compare_swap32(word, expected, desired) bind(c) &
            result(was)
            import :: c_int32_t
            integer(c_int32_t)        :: word, was
            integer(c_int32_t), value :: expected, desired
        end function
        function hearth_fetch_add_double(word, value) bind(c) result(was)
            import :: c_double
            real(c_double)        :: word, was
            real(c_double), value :: value
        end function
    end interface

contains

    pure function hearth_block() result(layout)
        type(hearth_layout) :: layout
        layout = hearth_layout(HEARTH_LAYOUT_BLOCK, 1, 0)
    end function

    pure function hearth_cyclic(pages) result(layout)
        integer, intent(in) :: pages
        type(hearth_layout) :: layout
        layout = hearth_layout(HEARTH_LAYOUT_CYCLIC, int(pages, c_int64_t), 0)
    end function

    pure function hearth_on(rank) result(layout)
        integer, intent(in) :: rank
        type(hearth_layout) :: layout
        layout = hearth_layout(HEARTH_LAYOUT_ON, 1, int(rank, c_int))
    end function

    pure function hearth_first_touch() result(layout)
        type(hearth_layout) :: layout
        layout = hearth_layout(HEARTH_LAYOUT_FIRST_TOUCH, 1, 0)
    end function

    ! Bit c of the set, ibset(0_c_int64_t, c), is cluster c.
    pure function hearth_within(layout, clusters) result(within)
        type(hearth_layout), intent(in) :: layout
        integer(c_int64_t), intent(in)  :: clusters
        type(hearth_layout)             :: within
        within = layout
        within%clusters = iand(layout%clusters, clusters)
    end function

    pure function hearth_on_cluster(cluster) result(layout)
        integer, intent(in) :: cluster
        type(hearth_layout) :: layout
        layout = hearth_within(hearth_block(), 0_c_int64_t)
        if (cluster >= 0 .and. cluster < 64) &
            layout%clusters = ibset(0_c_int64_t, cluster)
    end function
end module
