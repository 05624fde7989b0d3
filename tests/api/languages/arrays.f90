! SPDX-License-Identifier: BSD-2-Clause
!
! A grid in the heap, filled and read by all ranks; a counter and a lock.  With
! an argument what a loop takes, beside an array of the program's own.
program arrays
    use mpi_f08
    use hearth
    implicit none

    integer, parameter       :: n = 200
    real(c_double), pointer  :: grid(:, :)
    integer(c_int64_t), pointer :: count(:)
    type(c_ptr)              :: g, c
    integer                  :: me, ranks, j, provided
    integer, target          :: wrong
    integer(c_int64_t)       :: was

    call MPI_Init_thread(MPI_THREAD_MULTIPLE, provided)
    call hearth_init(MPI_COMM_WORLD%MPI_VAL)
    me = hearth_rank()
    ranks = hearth_size()
    wrong = 0
    g = hearth_alloc(int(n * n, c_size_t), c_sizeof(0d0), hearth_on_cluster(0))
    c = hearth_alloc(2_c_size_t, 8_c_size_t, &
        hearth_within(hearth_on(ranks - 1), 1_c_int64_t))
    call c_f_pointer(g, grid, [n, n])
    call c_f_pointer(c, count, [2])
    do j = me + 1, n, ranks
        grid(:, j) = j
        if (mod(j, 2) == 0) was = hearth_fetch_add(count(1), 1_c_int64_t)
        if (mod(j, 2) == 1) call hearth_add(count(1), 1_c_int64_t)
        call hearth_lock(5)
        count(2) = count(2) + j
        call hearth_unlock(5)
    end do
    call hearth_atomic_flush()
    if (hearth_wait_until(count(1), HEARTH_GE, int(n, c_int64_t)) < n) &
        wrong = wrong + 1
    call hearth_read_mostly(g, 8_c_size_t)
    if (hearth_restarted() /= 0 .or. .not. hearth_checkpoint_done()) &
        wrong = wrong + 1
    if (hearth_checkpoint_add(c_loc(wrong), c_sizeof(wrong), 'wrong')) &
        wrong = wrong + 1
    call hearth_checkpoint_remove('wrong')
    if (hearth_checkpoint() .or. .not. hearth_checkpoint_wait()) &
        wrong = wrong + 1
    call hearth_barrier()
    call hearth_prefetchv([g, c], [8_c_size_t, 8_c_size_t], 2_c_size_t)
    if (nint(sum(grid)) /= n * (n * (n + 1)) / 2) wrong = wrong + 1
    if (count(1) /= n .or. count(2) /= n * (n + 1) / 2) wrong = wrong + 1
    if (hearth_home(c) /= ranks - 1) wrong = wrong + 1
    if (hearth_clusters() /= 1 .or. hearth_cluster() /= 0) wrong = wrong + 1
    call hearth_barrier()
    call hearth_free(c)
    call hearth_free(g)
    call objects(wrong)
    if (command_argument_count() > 0) call loop_time()
    if (wrong == 0) print '(a,i0,a)', 'languages: rank ', me, ': right'
    call hearth_finalize()
    call MPI_Finalize()
    if (wrong /= 0) stop 1

contains

    ! Each rank's own, without a collective.
    subroutine objects(wrong)
        integer, intent(inout)      :: wrong
        integer(c_int32_t), pointer :: own(:)
        type(hearth_malloc_stats)   :: had
        type(c_ptr)                 :: p

        p = hearth_malloc(400_c_size_t)
        call c_f_pointer(p, own, [100])
        own = 7
        if (hearth_compare_swap32(own(2), 7, 8) /= 7) wrong = wrong + 1
        if (sum(own) /= 701) wrong = wrong + 1
        if (hearth_counter('atomics') < 1) wrong = wrong + 1
        call hearth_free(p)
        p = hearth_aligned_alloc_on(4096_c_size_t, 400_c_size_t, 0)
        if (hearth_malloc_usable_size(p) < 400) wrong = wrong + 1
        call hearth_get_malloc_stats(had, int(c_sizeof(had), c_size_t))
        if (had%live < 1 .or. had%peak_bytes < 400) wrong = wrong + 1
        call hearth_free(p)
        p = hearth_aligned_alloc(64_c_size_t, 64_c_size_t)
        call hearth_free(p)
        p = hearth_try_malloc(64_c_size_t)
        if (.not. c_associated(p)) wrong = wrong + 1
        call hearth_free(p)
        call hearth_collect()
    end subroutine

    function steps(x) result(seconds)
        real(c_double), intent(inout) :: x(:)
        real(c_double)                :: seconds

        seconds = MPI_Wtime()
        x = x * 0.999d0 + 1
        if (sum(x) <= 0) stop 2
        seconds = MPI_Wtime() - seconds
    end function

    subroutine loop_time()
        integer, parameter          :: m = 2**18
        real(c_double), pointer     :: here(:)
        real(c_double), allocatable :: own(:)
        real(c_double)              :: a, b
        type(c_ptr)                 :: p
        integer                     :: i

        p = hearth_malloc(int(8 * m, c_size_t))
        call c_f_pointer(p, here, [m])
        allocate (own(m))
        here = 1
        own = 1
        a = huge(a)
        b = huge(b)
        do i = 1, 300
            a = min(a, steps(here))
            b = min(b, steps(own))
        end do
        if (me == 0) print '(a,f6.3,a)', 'languages: Fortran loop', a / b, &
            " of a private array's"
        call hearth_free(p)
    end subroutine
end program
