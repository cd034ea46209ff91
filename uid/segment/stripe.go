package segment

import (
	"fmt"
	"math"
	"strings"
)

// stripe maps a counter to ids: it has the blocks of ids that are ≡ index mod of.
type stripe struct{ block, index, of int64 }

var whole = stripe{block: math.MaxInt64, of: 1}

func (s stripe) id(count int64) int64 {
	return (count/s.block*s.of+s.index)*s.block + count%s.block
}

func (s stripe) count(id int64) int64 {
	return id/s.block/s.of*s.block + id%s.block
}

// blockLeft returns how many counts there are from count to the end of its block.
func (s stripe) blockLeft(count int64) int64 { return s.block - count%s.block }

// end returns the end of the counts whose ids are at most limit.
func (s stripe) end(limit int64) int64 {
	block := limit / s.block
	full := block / s.of // blocks below that are full
	switch index := block % s.of; {
	case index > s.index:
		return (full + 1) * s.block
	case index == s.index:
		return full*s.block + limit%s.block + 1
	}
	return full * s.block
}

func (s stripe) tag(tag string) string {
	return fmt.Sprintf("%s %d/%d x%d", tag, s.index+1, s.of, s.block)
}

// stripeOf returns the stripe of a counter's tag, and the tag without the stripe. A
// counter that [Striped] does not use is whole.
func stripeOf(striped string) (s stripe, tag string) {
	at := max(0, strings.LastIndexByte(striped, ' '))
	at = max(0, strings.LastIndexByte(striped[:at], ' '))
	tag = striped[:at]
	_, err := fmt.Sscanf(striped[at:], " %d/%d x%d", &s.index, &s.of, &s.block)
	s.index--
	if err != nil || s.index < 0 || s.index >= s.of || s.block < 1 || s.block > MaxStep || s.tag(tag) != striped {
		return whole, striped
	}
	return s, tag
}

// NextID returns the least id that is not reserved, or [math.MaxInt64] if none is left. It
// differs from Next only for counters of [Striped].
func (c CounterInfo) NextID() int64 {
	s, _ := stripeOf(c.Tag)
	if c.Next >= s.end(math.MaxInt64-1) {
		return math.MaxInt64
	}
	return s.id(c.Next)
}

// NextFor returns the lowest [CounterInfo].Next that guarantees that no future id of tag is below
// id. It differs from id only for counters of [Striped].
func NextFor(tag string, id int64) int64 {
	s, _ := stripeOf(tag)
	return max(1, s.end(id-1))
}
