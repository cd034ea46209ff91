package opaque_test

import (
	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/uid/opaque"
)

const anID = uid.ID(960121041164754944)

// tester is a test, a benchmark, or a draw of rapid.
type tester interface {
	Helper()
	Fatal(...any)
}

// key returns a key of the tests: bytes from n on.
func key(n byte) []byte {
	k := make([]byte, opaque.KeySize)
	for i := range k {
		k[i] = n + byte(i)
	}
	return k
}

func sealer(t tester, context string, keys ...[]byte) *opaque.Sealer {
	t.Helper()
	s, err := opaque.New(context, keys...)
	need.Must(t, err)
	return s
}

func permutation(t tester, context string, key []byte) *opaque.Permutation {
	t.Helper()
	p, err := opaque.NewPermutation(context, key)
	need.Must(t, err)
	return p
}

func seal(t tester, s *opaque.Sealer, id uid.ID) opaque.Token {
	t.Helper()
	token, err := s.Seal(id)
	need.Must(t, err)
	return token
}
