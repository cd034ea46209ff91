package opaque

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/subtle"
	"encoding/binary"
	"fmt"

	"github.com/uidring/uidring/uid"
)

// Sealer seals ids into tokens and opens them, for one context. [New] makes one; Seal and Open fail
// with [uid.ErrConfig] on a zero or nil Sealer. A Sealer is safe for concurrent use and allocates
// nothing per token.
type Sealer struct {
	context string
	ciphers []cipher.Block // one of each key; the first seals
}

// New returns a Sealer for the ids of a context, such as the name of their table. Tokens from one
// context do not open in another. The context is not a secret.
//
// A key is [KeySize] random bytes, for example from crypto/rand. New does not keep it. The first
// key seals and every key opens. To rotate keys, deploy New(context, old, new) to all processes,
// then New(context, new, old). Drop the old key once its tokens no longer need to be opened.
//
// The error names everything that is invalid, by its length if it is a key, and matches
// [uid.ErrConfig].
func New(context string, keys ...[]byte) (*Sealer, error) {
	derived, err := ciphers(forTokens, context, keys...)
	if err != nil {
		return nil, err
	}
	return &Sealer{context: context, ciphers: derived}, nil
}

// Seal returns the token for an id: the same one each time, until the first key changes. For a
// negative id, the error matches [ErrSyntax].
func (s *Sealer) Seal(id uid.ID) (Token, error) {
	if s == nil || len(s.ciphers) == 0 {
		return Token{}, errUnmade
	}
	if id < 0 {
		return Token{}, fmt.Errorf("%w: id %d, want 0 or more", ErrSyntax, id)
	}
	block := blocks.Get().(*[aes.BlockSize]byte)
	clear(block[:8])
	binary.BigEndian.PutUint64(block[8:], uint64(id))
	s.ciphers[0].Encrypt(block[:], block[:])
	token := Token(*block)
	blocks.Put(block)
	return token, nil
}

// Open returns the id of a token that was sealed in this context under one of the keys. For any
// other token it does the same work and returns [ErrToken].
func (s *Sealer) Open(token Token) (uid.ID, error) {
	if s == nil || len(s.ciphers) == 0 {
		return 0, errUnmade
	}
	block := blocks.Get().(*[aes.BlockSize]byte)
	var zero [8]byte
	var id, opened uint64
	for _, c := range s.ciphers {
		*block = token
		c.Decrypt(block[:], block[:])
		low := binary.BigEndian.Uint64(block[8:])
		// 1 if the 64 bits before the id and its sign are 0.
		authentic := uint64(subtle.ConstantTimeCompare(block[:8], zero[:])) &^ (low >> 63)
		id |= low & -(authentic &^ opened)
		opened |= authentic
	}
	blocks.Put(block)
	if opened == 0 {
		return 0, ErrToken
	}
	return uid.ID(id), nil
}

// Format writes the context and the number of keys, whatever the verb, so that no
// log shows a key.
func (s Sealer) Format(f fmt.State, _ rune) {
	fmt.Fprintf(f, "opaque.Sealer{context: %q, keys: %d}", s.context, len(s.ciphers))
}
