package segment

import (
	"errors"
	"fmt"
)

// ErrStripe is matched when a store has counters of the tag whose ids would repeat: they
// were made for another number of stores, another order of stores or another Block, or
// one is of [Stripe] and the other of [New] or [Tags].
var ErrStripe = errors.New("segment: ids would repeat those of another counter")

// checkPlain returns an error for a tag that New and Tags cannot use.
func checkPlain(tag string) error {
	if _, of := stripeOf(tag); of != tag {
		return fmt.Errorf("%w: %q is a counter that Stripe has for %q", ErrTag, tag, of)
	}
	return CheckTag(tag)
}

// unstriped returns an error if counters has one that Stripe uses for tag.
func unstriped(counters []Counter, store Store, tag string) error {
	for _, c := range counters {
		if _, of := stripeOf(c.Tag); of == tag && c.Tag != tag {
			return besideStripe(store, tag, c.Tag)
		}
	}
	return nil
}

func besideStripe(store Store, tag, striped string) error {
	return fmt.Errorf("%w: %s has %q for Stripe, so New and Tags cannot use %q", ErrStripe, store, striped, tag)
}

// alone returns an error if counters has one whose ids would repeat those of the shard.
// With create, that is so too for ids that New made before the shard's counter exists.
func (h *shard) alone(counters []Counter, tag string, create bool) error {
	made, plain := false, false
	for _, c := range counters {
		switch _, of := stripeOf(c.Tag); {
		case c.Tag == h.tag:
			made = true
		case c.Tag == tag && c.Next != spent:
			return fmt.Errorf("%w: %s has %q for New or Tags, at %d; call segment.Split once, then start with Stripe",
				ErrStripe, h.store, tag, c.Next)
		case c.Tag == tag:
			plain = true
		case of == tag:
			return fmt.Errorf("%w: %s has %q, want %q", ErrStripe, h.store, c.Tag, h.tag)
		}
	}
	if create && plain && !made {
		return fmt.Errorf("%w: %s has %q, which is spent, and not %q; create that counter above the highest id in use",
			ErrStripe, h.store, tag, h.tag)
	}
	return nil
}
