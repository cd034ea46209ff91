// Package contention keeps goroutines on several cores out of each other's way: it keeps a contended
// word on cache lines of its own, and locks mutexes that are held for a microsecond or less.
package contention

import (
	"sync/atomic"
	"unsafe"
)

// LineSize is how many bytes to keep between two words that different cores write.
// That is two lines of 64 bytes, because the prefetchers of common processors
// fetch lines in pairs. Other processors have lines of 128 bytes.
const LineSize = 128

// Pad fills LineSize bytes. Place one before and one after a field that shares no line.
type Pad [LineSize]byte

// Int64 is an atomic integer that shares no cache line with anything else,
// whatever stands around it. The zero value is 0.
type Int64 struct {
	_ [LineSize - 8]byte
	atomic.Int64
	_ [LineSize - 8]byte
}

// The compiler checks that the word stands 120 bytes from either end on every platform.
var _ [2*LineSize - 8]byte = [unsafe.Sizeof(Int64{})]byte{}
