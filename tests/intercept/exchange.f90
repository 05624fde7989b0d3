! SPDX-License-Identifier: BSD-2-Clause
!
! Each rank sends from heap memory at home on its right neighbour and receives
! into some at home there, by mpi, in Fortran.
program exchange
    use, intrinsic :: iso_c_binding
    use mpi
    implicit none
    interface
        subroutine hearth_start() bind(c)
        end subroutine
        function hearth_numbers(count) bind(c)
            import
            integer(c_size_t), value :: count
            type(c_ptr) :: hearth_numbers
        end function
        subroutine hearth_barrier() bind(c)
        end subroutine
        subroutine hearth_finalize() bind(c)
        end subroutine
    end interface
    integer, parameter :: n = 20000
    real(c_double), pointer :: a(:, :, :)
    integer :: me, ranks, to, from, error, i, requests(2)
    logical :: right

    call MPI_Init_thread(MPI_THREAD_MULTIPLE, i, error)
    call hearth_start()
    call MPI_Comm_rank(MPI_COMM_WORLD, me, error)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
    to = mod(me + 1, ranks)
    from = mod(me + ranks - 1, ranks)
    ! a(:, 1, r) is sent, and a(:, 2, r) received into, for rank r - 1.
    call c_f_pointer(hearth_numbers(int(2 * n * ranks, c_size_t)), a, &
                     [n, 2, ranks])
    a(:, 1, me + 1) = [(dble(me * n + i), i=1, n)]
    call hearth_barrier()
    call MPI_Sendrecv(a(:, 1, to + 1), n, MPI_DOUBLE_PRECISION, to, 0, &
                      a(:, 2, to + 1), n, MPI_DOUBLE_PRECISION, from, 0, &
                      MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
    right = all(a(:, 2, to + 1) == [(dble(me * n + i), i=1, n)])
    call hearth_barrier()
    call MPI_Irecv(a(1, 2, to + 1), n, MPI_DOUBLE_PRECISION, to, 1, &
                   MPI_COMM_WORLD, requests(1), error)
    call MPI_Isend(a(1, 1, to + 1), n, MPI_DOUBLE_PRECISION, from, 1, &
                   MPI_COMM_WORLD, requests(2), error)
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, error)
    i = mod(to + 1, ranks)
    right = right .and. a(1, 2, to + 1) == dble(i * n + 1) .and. &
            a(n, 2, to + 1) == dble(i * n + n)
    call MPI_Allreduce(MPI_IN_PLACE, a(1, 2, to + 1), n, &
                       MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, error)
    right = right .and. a(7, 2, to + 1) == &
            dble(n) * ranks * (ranks - 1) / 2 + 7 * ranks
    if (right) print '(a,i0,a)', 'exchange: rank ', me, ': right'
    call hearth_finalize()
    call MPI_Finalize(error)
end program
