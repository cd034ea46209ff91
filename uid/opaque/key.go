package opaque

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"errors"
	"fmt"
	"sync"
)

// KeySize is the length of a key in bytes.
const KeySize = 32

// What a key is derived for. With the byte 0 after them, no purpose is the
// beginning of another, whatever the context.
const (
	forTokens       = "token\x00"
	forPermutations = "permutation\x00"
)

// salt sets the keys of this package apart from whatever else a program derives
// from the same key.
const salt = "github.com/uidring/uidring/uid/opaque"

var errUnmade = fmt.Errorf("%w: made without its constructor", ErrKey)

// blocks lends the memory for one block to each call: handed to a
// [cipher.Block], memory of the call's own would escape to the heap.
var blocks = sync.Pool{New: func() any { return new([aes.BlockSize]byte) }}

// ciphers derives one cipher from each key, and reports all that is wrong.
func ciphers(purpose, context string, keys ...[]byte) ([]cipher.Block, error) {
	var faults []error
	if context == "" {
		faults = append(faults, fmt.Errorf("%w: want what the ids are of, such as the name of their table", ErrContext))
	}
	if len(keys) == 0 {
		faults = append(faults, fmt.Errorf("%w: none given, want one or more of %d bytes", ErrKey, KeySize))
	}
	derived := make([]cipher.Block, 0, len(keys))
	for i, key := range keys {
		block, err := derive(purpose, context, key)
		if err != nil {
			faults = append(faults, fmt.Errorf("%w: key %d of %d %w", ErrKey, i+1, len(keys), err))
		}
		derived = append(derived, block)
	}
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	return derived, nil
}

func derive(purpose, context string, key []byte) (cipher.Block, error) {
	if len(key) != KeySize {
		return nil, fmt.Errorf("has %d bytes, want %d", len(key), KeySize)
	}
	if [KeySize]byte(key) == [KeySize]byte{} {
		return nil, errors.New("is all zeros, want random bytes")
	}
	derived, err := hkdf.Key(sha256.New, key, []byte(salt), purpose+context, KeySize)
	if err != nil {
		return nil, fmt.Errorf("cannot be derived from: %w", err)
	}
	return aes.NewCipher(derived)
}
