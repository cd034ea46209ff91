// Package cacheline keeps a contended word on cache lines of its own:
// goroutines that write the word do not slow down readers of its neighbours.
package cacheline

import (
	"sync/atomic"
	"unsafe"
)

// Size is how many bytes to keep between two words that different cores write.
// That is two lines of 64 bytes, because the prefetchers of common processors
// fetch lines in pairs. Other processors have lines of 128 bytes.
const Size = 128

// Pad fills Size bytes. Place one before and one after a field that shares no line.
type Pad [Size]byte

// Int64 is an atomic integer that shares no cache line with anything else,
// whatever stands around it. The zero value is 0.
type Int64 struct {
	_ [Size - 8]byte
	atomic.Int64
	_ [Size - 8]byte
}

// The compiler checks that the word stands 120 bytes from either end on every platform.
var _ [2*Size - 8]byte = [unsafe.Sizeof(Int64{})]byte{}
