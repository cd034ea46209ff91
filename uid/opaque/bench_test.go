package opaque_test

import (
	"crypto/aes"
	"fmt"
	"testing"

	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/uid/opaque"
)

const anID = uid.ID(960121041164754944)

// BenchmarkToken is the cost of a token beside its floor, a block of AES-256.
func BenchmarkToken(b *testing.B) {
	b.Run("impl=aes", func(b *testing.B) {
		b.ReportAllocs()
		block, err := aes.NewCipher(key(1))
		if err != nil {
			b.Fatal(err)
		}
		buffer := make([]byte, aes.BlockSize)
		for b.Loop() {
			block.Encrypt(buffer, buffer)
		}
	})
	for _, keys := range [][][]byte{{key(1)}, {key(1), key(2), key(3)}} {
		s := sealer(b, "orders", keys...)
		token := seal(b, s, anID)
		b.Run(fmt.Sprintf("impl=seal/keys=%d", len(keys)), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := s.Seal(anID); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprintf("impl=open/keys=%d", len(keys)), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := s.Open(token); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprintf("impl=refuse/keys=%d", len(keys)), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := s.Open(opaque.Token{}); err == nil {
					b.Fatal("opened")
				}
			}
		})
	}
}

// BenchmarkPermutation is the cost of a number.
func BenchmarkPermutation(b *testing.B) {
	p := permutation(b, "orders", key(1))
	b.Run("impl=permute", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := p.Permute(anID); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("impl=restore", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := p.Restore(int64(anID)); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkText is the cost of a token's text.
func BenchmarkText(b *testing.B) {
	token := seal(b, sealer(b, "orders", key(1)), anID)
	text := token.String()
	b.Run("impl=append", func(b *testing.B) {
		b.ReportAllocs()
		buffer := make([]byte, 0, 32)
		for b.Loop() {
			buffer, _ = token.AppendText(buffer[:0])
		}
	})
	b.Run("impl=parse", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := opaque.ParseToken(text); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkNew is the cost of one more context.
func BenchmarkNew(b *testing.B) {
	b.Run("impl=sealer", func(b *testing.B) {
		b.ReportAllocs()
		k := key(1)
		for b.Loop() {
			if _, err := opaque.New("orders", k); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("impl=permutation", func(b *testing.B) {
		b.ReportAllocs()
		k := key(1)
		for b.Loop() {
			if _, err := opaque.NewPermutation("orders", k); err != nil {
				b.Fatal(err)
			}
		}
	})
}
