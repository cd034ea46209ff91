// Package bits says how a 64-bit id is laid out and turns the parts of an id
// into the id and back.
//
// An id is, from its highest bit to its lowest, the sign (always 0), the ticks
// that have passed since an epoch, the number of the worker that made it, and a
// sequence within the tick:
//
//	 63 62           35 34              13 12         0
//	+--+---------------+------------------+------------+
//	| 0| ticks (28)    | worker (22)      | seq (13)   |   the default layout
//	+--+---------------+------------------+------------+
//
// [Layout] is all that it takes to read an id: the three widths, the epoch and
// the length of a tick. It is plain data that can be kept in a configuration
// file as text. [NewAllocator] checks a layout and precomputes what the hot
// paths need.
//
// Because the ticks stand highest, ids sort by time, and all ids of one tick
// and one worker are consecutive numbers. Packages ringbuffer and uid are built on
// both facts. LAYOUTS.md, beside this file, helps to choose a layout.
//
// The package answers to BitsAllocator of uid-generator.
package bits
