package opaque

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
	"fmt"

	"github.com/uidring/uidring/uid"
)

// Permutation turns ids into random-looking numbers from 0 to 2^63-1, and turns those numbers back
// into ids. Prefer a [Sealer] where a [Token] fits: every non-negative number maps back to some id,
// so a forged number goes unnoticed. JavaScript rounds numbers above 2^53: write them as strings in
// JSON.
//
// [NewPermutation] makes one; Permute and Restore fail with [uid.ErrConfig] on a zero or nil
// Permutation. A Permutation is safe for concurrent use and allocates nothing per number.
type Permutation struct {
	context string
	cipher  cipher.Block
}

// NewPermutation returns the permutation that key defines for the ids of a context, such as the
// name of their table. The key is [KeySize] random bytes and may also be used by a Sealer.
// NewPermutation does not keep it.
//
// A number does not identify its key: if you might rotate keys, store the key's name beside each
// number. The error names everything that is invalid, and matches [uid.ErrConfig].
func NewPermutation(context string, key []byte) (*Permutation, error) {
	derived, err := ciphers(forPermutations, context, key)
	if err != nil {
		return nil, err
	}
	return &Permutation{context: context, cipher: derived[0]}, nil
}

// Permute returns the number, from 0 to 2^63-1, that takes the place of an id. For a negative id,
// the error matches [ErrSyntax].
func (p *Permutation) Permute(id uid.ID) (int64, error) {
	if p == nil || p.cipher == nil {
		return 0, errUnmade
	}
	if id < 0 {
		return 0, fmt.Errorf("%w: id %d, want 0 or more", ErrSyntax, id)
	}
	upper, lower := uint32(id>>32), uint32(id)
	block := blocks.Get().(*[aes.BlockSize]byte)
	for round := 0; round < rounds; round += 2 {
		upper ^= p.value(block, round, lower) >> 1 // 31 bits
		lower ^= p.value(block, round+1, upper)
	}
	blocks.Put(block)
	return int64(upper)<<32 | int64(lower), nil
}

// Restore returns the id that [Permutation.Permute] maps to n. Every non-negative n has one, so
// Restore cannot detect a forged number. For a negative number, the error matches [ErrSyntax].
func (p *Permutation) Restore(n int64) (uid.ID, error) {
	if p == nil || p.cipher == nil {
		return 0, errUnmade
	}
	if n < 0 {
		return 0, fmt.Errorf("%w: number %d, want 0 or more", ErrSyntax, n)
	}
	upper, lower := uint32(n>>32), uint32(n)
	block := blocks.Get().(*[aes.BlockSize]byte)
	for round := rounds - 2; round >= 0; round -= 2 {
		lower ^= p.value(block, round+1, upper)
		upper ^= p.value(block, round, lower) >> 1
	}
	blocks.Put(block)
	return uid.ID(upper)<<32 | uid.ID(lower), nil
}

// Format writes the context but not the key, whatever the verb.
func (p Permutation) Format(f fmt.State, _ rune) {
	fmt.Fprintf(f, "opaque.Permutation{context: %q}", p.context)
}

// rounds is the number of rounds. Even rounds change the upper half, which has 31 bits, by
// the lower half; odd rounds change the lower half, which has 32, by the upper.
const rounds = 10

// value is the round function F: the first 32 bits of the block that has the round in its
// first byte, the half in its last four and zeros between them, enciphered.
func (p *Permutation) value(block *[aes.BlockSize]byte, round int, half uint32) uint32 {
	clear(block[1:12])
	block[0] = byte(round)
	binary.BigEndian.PutUint32(block[12:], half)
	p.cipher.Encrypt(block[:], block[:])
	return binary.BigEndian.Uint32(block[:4])
}
