package opaque_test

import (
	"crypto/aes"
	"fmt"
	"testing"

	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/uid/opaque"
)

// measure is a benchmark of calls that succeed.
func measure(b *testing.B, name string, call func() error) {
	b.Run(name, func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if err := call(); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkToken is the cost of a token beside its floor, a block of AES-256.
func BenchmarkToken(b *testing.B) {
	block, err := aes.NewCipher(key(1))
	need.Must(b, err)
	buffer := make([]byte, aes.BlockSize)
	measure(b, "impl=aes", func() error { block.Encrypt(buffer, buffer); return nil })
	for _, keys := range [][][]byte{{key(1)}, {key(1), key(2), key(3)}} {
		s := sealer(b, "orders", keys...)
		token := seal(b, s, anID)
		measure(b, fmt.Sprintf("impl=seal/keys=%d", len(keys)), func() error { _, err := s.Seal(anID); return err })
		measure(b, fmt.Sprintf("impl=open/keys=%d", len(keys)), func() error { _, err := s.Open(token); return err })
		measure(b, fmt.Sprintf("impl=refuse/keys=%d", len(keys)), func() error { _, _ = s.Open(opaque.Token{}); return nil })
	}
}

// BenchmarkPermutation is the cost of a number.
func BenchmarkPermutation(b *testing.B) {
	p := permutation(b, "orders", key(1))
	measure(b, "impl=permute", func() error { _, err := p.Permute(anID); return err })
	measure(b, "impl=restore", func() error { _, err := p.Restore(int64(anID)); return err })
}

// BenchmarkNew is the cost of one more context.
func BenchmarkNew(b *testing.B) {
	k := key(1)
	measure(b, "impl=sealer", func() error { _, err := opaque.New("orders", k); return err })
	measure(b, "impl=permutation", func() error { _, err := opaque.NewPermutation("orders", k); return err })
}
