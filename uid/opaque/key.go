package opaque

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"errors"
	"fmt"
	"sync"

	"github.com/uidring/uidring/uid"
)

// KeySize is the length of a key in bytes.
const KeySize = 32

// The purposes of derived keys. Each ends with a zero byte, so that no purpose with
// its context equals another purpose with another context.
const (
	forTokens       = "token\x00"
	forPermutations = "permutation\x00"
)

// salt separates the keys of this package from other keys that a program derives from
// the same key.
const salt = "github.com/uidring/uidring/uid/opaque"

var errUnmade = fmt.Errorf("opaque: %w: the value was not made by its constructor", uid.ErrConfig)

// blocks lends memory for one block to each call. A local variable would escape to
// the heap when a call passes it to a [cipher.Block].
var blocks = sync.Pool{New: func() any { return new([aes.BlockSize]byte) }}

func ciphers(purpose, context string, keys ...[]byte) ([]cipher.Block, error) {
	var faults []error
	if context == "" {
		faults = append(faults, fmt.Errorf("opaque: %w: context is empty, want a name, such as that of the ids' table", uid.ErrConfig))
	}
	if len(keys) == 0 {
		faults = append(faults, fmt.Errorf("opaque: %w: no key, want one or more of %d bytes", uid.ErrConfig, KeySize))
	}
	derived := make([]cipher.Block, 0, len(keys))
	for i, key := range keys {
		block, err := derive(purpose, context, key)
		if err != nil {
			faults = append(faults, fmt.Errorf("opaque: %w: key %d of %d %w", uid.ErrConfig, i+1, len(keys), err))
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
	// HKDF fails only for much longer keys. NewCipher would then refuse the empty one.
	derived, _ := hkdf.Key(sha256.New, key, []byte(salt), purpose+context, KeySize)
	return aes.NewCipher(derived)
}
