// SPDX-License-Identifier: BSD-2-Clause
//
// goroutines.go -- Hearth in Go: the heap is touched by goroutines, whose
// stacks begin with a few KiB and lie beside each other.  Started by
// languages.tap.
package main

/*
#include <hearth/hearth.h>

static void
start(void)
{
    int unused;

    MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &unused);
    hearth_init(MPI_COMM_WORLD);
}

static int64_t *
words_new(uint64_t pages)
{
    return hearth_alloc(pages * 4096, sizeof(int64_t), hearth_cyclic(1));
}
*/
import "C"

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"sync"
	"unsafe"
)

const (
	pages      = 512
	words      = 512 // a page
	goroutines = 32
	rounds     = 3
)

// The frames of these calls are what a fault must not write to.
func down(depth int, word *int64, add int64) int64 {
	var kept [8]int64
	for i := range kept {
		kept[i] = int64(depth) + add
	}
	if depth > 0 {
		kept[0] += down(depth-1, word, add)
	} else {
		*word += add
		kept[0]++
	}
	for i := range kept[1:] {
		if kept[i+1] != int64(depth)+add {
			panic("a stack was written to")
		}
	}
	return kept[0]
}

// Each goroutine of a rank adds to the words of its own in pages that all
// ranks write.
func add(heap []int64, rank, size, round int) {
	var all sync.WaitGroup
	for g := 0; g < goroutines; g++ {
		all.Add(1)
		go func(g int) {
			defer all.Done()
			for p := g; p < pages; p += goroutines {
				down(g%5, &heap[p*words+rank], int64(round+p))
				runtime.Gosched()
			}
		}(g)
	}
	all.Wait()
}

func wrong(heap []int64, size, round int) int {
	n := 0
	for p := 0; p < pages; p++ {
		for r := 0; r < size; r++ {
			if heap[p*words+r] != int64((round+1)*p+round*(round+1)/2) {
				n++
			}
		}
	}
	return n
}

// Go's handler behind Hearth's makes a panic of what is no page fault.
func nilPanics() (panics bool) {
	defer func() { panics = recover() != nil }()
	var nothing *int64
	*nothing = 1
	return false
}

func main() {
	// MPI and locks of Hearth's are those of a thread.
	runtime.LockOSThread()
	debug.SetGCPercent(10)
	C.start()
	rank, size := int(C.hearth_rank()), int(C.hearth_size())
	heap := unsafe.Slice((*int64)(unsafe.Pointer(C.words_new(pages))),
		pages*words)
	bad := 0
	for round := 0; round < rounds; round++ {
		add(heap, rank, size, round)
		C.hearth_barrier()
		bad += wrong(heap, size, round)
		if !nilPanics() {
			bad++
		}
		C.hearth_barrier()
	}
	if bad == 0 {
		fmt.Printf("languages: rank %d: right\n", rank)
	} else {
		fmt.Printf("languages: rank %d: %d wrong\n", rank, bad)
	}
	C.hearth_finalize()
	C.MPI_Finalize()
	if bad != 0 {
		os.Exit(1)
	}
}
