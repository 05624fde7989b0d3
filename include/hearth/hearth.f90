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
    integer(c_int), parameter :: HEARTH_EQ = 0, HEARTH_NE = 1, &
        HEARTH_GT = 2, HEARTH_GE = 3, HEARTH_LT = 4, HEARTH_LE = 5

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
        subroutine hearth_name(p, name) bind(c)
            import :: c_ptr, c_char
            type(c_ptr), value            :: p
            character(c_char), intent(in) :: name(*)
        end subroutine
        subroutine hearth_prefetch(p, bytes) bind(c)
            import :: c_ptr, c_size_t
            type(c_ptr), value       :: p
            integer(c_size_t), value :: bytes
        end subroutine
        subroutine hearth_prefetchv(places, bytes, n) bind(c)
            import :: c_ptr, c_size_t
            integer(c_size_t), value      :: n
            type(c_ptr), intent(in)       :: places(n)
            integer(c_size_t), intent(in) :: bytes(n)
        end subroutine
        subroutine hearth_read_mostly(p, bytes) bind(c)
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
        subroutine hearth_add(word, value) bind(c)
            import :: c_int64_t
            integer(c_int64_t)        :: word
            integer(c_int64_t), value :: value
        end subroutine
        subroutine hearth_add32(word, value) bind(c)
            import :: c_int32_t
            integer(c_int32_t)        :: word
            integer(c_int32_t), value :: value
        end subroutine
        subroutine hearth_add_double(word, value) bind(c)
            import :: c_double
            real(c_double)        :: word
            real(c_double), value :: value
        end subroutine
        function hearth_team_of(comm) bind(c, name='hearth_team_of_f') &
            result(team)
            import :: c_int, c_ptr
            integer(c_int), value :: comm
            type(c_ptr)           :: team
        end function
        subroutine hearth_team_barrier(team) bind(c)
            import :: c_ptr
            type(c_ptr), value :: team
        end subroutine
        function hearth_team_alloc(team, count, size) bind(c) result(p)
            import :: c_size_t, c_ptr
            type(c_ptr), value       :: team
            integer(c_size_t), value :: count, size
            type(c_ptr)              :: p
        end function
        subroutine hearth_team_free(team) bind(c)
            import :: c_ptr
            type(c_ptr), value :: team
        end subroutine
        function hearth_checkpoint_done() bind(c) result(done)
            import :: c_bool
            logical(c_bool) :: done
        end function
        function hearth_checkpoint_wait() bind(c) result(whole)
            import :: c_bool
            logical(c_bool) :: whole
        end function
        function hearth_restarted() bind(c) result(ranks)
            import :: c_int
            integer(c_int) :: ranks
        end function
        subroutine hearth_atomic_flush() bind(c)
        end subroutine
        function hearth_wait_until(word, how, value) bind(c) result(was)
            import :: c_int, c_int64_t
            integer(c_int64_t)        :: word, was
            integer(c_int), value     :: how
            integer(c_int64_t), value :: value
        end function
    end interface

contains

    ! Save the run in a folder; without one, in HEARTH_CHECKPOINT, if it is due.
    function hearth_checkpoint(where) result(made)
        character(*), intent(in), optional :: where
        logical(c_bool)                    :: made
        interface
            function checkpoint(where) bind(c, name='hearth_checkpoint') &
                result(made)
                import :: c_bool, c_ptr
                type(c_ptr), value :: where
                logical(c_bool)    :: made
            end function
        end interface
        character(kind=c_char), allocatable, target :: text(:)

        if (present(where)) then
            text = transfer(trim(where) // c_null_char, text, &
                len_trim(where) + 1)
            made = checkpoint(c_loc(text))
        else
            made = checkpoint(c_null_ptr)
        end if
    end function

    ! So many bytes at c_loc of a variable, which has TARGET, under a name.
    function hearth_checkpoint_add(p, bytes, name) result(filled)
        type(c_ptr), intent(in)       :: p
        integer(c_size_t), intent(in) :: bytes
        character(*), intent(in)      :: name
        logical(c_bool)               :: filled
        interface
            function add(p, bytes, name) &
                bind(c, name='hearth_checkpoint_add') result(filled)
                import :: c_bool, c_char, c_ptr, c_size_t
                type(c_ptr), value             :: p
                integer(c_size_t), value       :: bytes
                character(kind=c_char), intent(in) :: name(*)
                logical(c_bool)                :: filled
            end function
        end interface

        filled = add(p, bytes, trim(name) // c_null_char)
    end function

    subroutine hearth_checkpoint_remove(name)
        character(*), intent(in) :: name
        interface
            subroutine remove(name) bind(c, name='hearth_checkpoint_remove')
                import :: c_char
                character(kind=c_char), intent(in) :: name(*)
            end subroutine
        end interface

        call remove(trim(name) // c_null_char)
    end subroutine

    subroutine hearth_checkpoint_read(rank, name, to, bytes)
        integer(c_int), intent(in)    :: rank
        character(*), intent(in)      :: name
        type(c_ptr), intent(in)       :: to
        integer(c_size_t), intent(in) :: bytes
        interface
            subroutine read_of(rank, name, to, bytes) &
                bind(c, name='hearth_checkpoint_read')
                import :: c_char, c_int, c_ptr, c_size_t
                integer(c_int), value              :: rank
                character(kind=c_char), intent(in) :: name(*)
                type(c_ptr), value                 :: to
                integer(c_size_t), value           :: bytes
            end subroutine
        end interface

        call read_of(rank, trim(name) // c_null_char, to, bytes)
    end subroutine

    ! A counter of this rank's, such as 'getpages' (hearth-env(7)).
    function hearth_counter(name) result(counted)
        character(*), intent(in) :: name
        integer(c_int64_t)       :: counted
        interface
            function counter(name) bind(c, name='hearth_counter')
                import :: c_char, c_int64_t
                character(kind=c_char), intent(in) :: name(*)
                integer(c_int64_t)                 :: counter
            end function
        end interface
        counted = counter(trim(name) // c_null_char)
    end function

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
