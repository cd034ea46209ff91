package opaque_test

import (
	"testing"

	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/uid/opaque"
)

// key returns a key of the tests: bytes from n on.
func key(n byte) []byte {
	k := make([]byte, opaque.KeySize)
	for i := range k {
		k[i] = n + byte(i)
	}
	return k
}

func sealer(tb testing.TB, context string, keys ...[]byte) *opaque.Sealer {
	tb.Helper()
	s, err := opaque.New(context, keys...)
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

func permutation(tb testing.TB, context string, key []byte) *opaque.Permutation {
	tb.Helper()
	p, err := opaque.NewPermutation(context, key)
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

func seal(tb testing.TB, s *opaque.Sealer, id uid.ID) opaque.Token {
	tb.Helper()
	token, err := s.Seal(id)
	if err != nil {
		tb.Fatal(err)
	}
	return token
}
