// Package bits defines the layout of a 64-bit id, and composes and parses ids. It uses only the
// standard library.
//
// From the highest bit to the lowest, an id consists of a sign bit (always 0), the number of ticks
// since an epoch, a worker number, and a sequence number:
//
//	 63 62              32 31          16 15          0
//	+--+------------------+--------------+-------------+
//	| 0| ticks (31)       | worker (16)  | seq (16)    |   Fleet, the default
//	+--+------------------+--------------+-------------+
//
// A [Layout] holds the three widths, the epoch and the length of a tick. An [Allocator] composes
// and parses ids of a Layout. [NewSuccession] reports whether ids of two Layouts can collide.
// [Reverse] reverses an id's bits for databases that shard by range.
//
// The ticks are the highest bits, so ids sort by time. All ids of a worker in the same tick are
// consecutive numbers. Packages ringbuffer and uid rely on both.
//
// [docs/choosing.md] helps you choose a layout. [docs/migrating.md] shows what to do when a
// layout ends.
//
// [docs/choosing.md]: https://github.com/uidring/uidring/blob/main/docs/choosing.md#layout
// [docs/migrating.md]: https://github.com/uidring/uidring/blob/main/docs/migrating.md
package bits
