package opaque_test

import (
	"crypto/aes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"math"
	"math/big"
	"os"
	"os/exec"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/uid/opaque"
)

// What stands here was computed with OpenSSL 3.0 (kdf HKDF, enc -aes-256-ecb) and
// must never change: tokens are out there.
func TestVectors(t *testing.T) {
	for _, v := range []struct {
		key     byte
		context string
		id      uid.ID
		token   string
		number  int64
	}{
		{1, "orders", 0, "750S251WQ2WT2G1DC7ADKC51T9", 1170130418041983795},
		{1, "orders", 960121041164754944, "4EXXHVZ721QW3N4Q2AVWHBZ7YW", 1043335764758903969},
		{1, "orders", math.MaxInt64, "5EQ2JY91ZMQMK6Z4DSH03KQN06", 5087931549732414868},
		{1, "ünïcode", 960121041164754944, "2K0NXD5DDHP56YZ70ZK73RSWA4", 804754499297029787},
		{1, "ünïcode", math.MaxInt64, "5FHK8S4H072WRG6G0GKCNDHA0D", 4725181033795329153},
		{200, "orders", 960121041164754944, "5VA5T9APBTKS7Q0CDYQEAY2RW7", 6014699186414220331},
		{200, "orders", math.MaxInt64, "1J8Y9YJEPJMSSV3NG4QKS407WH", 1763411614772381371},
	} {
		s, p := sealer(t, v.context, key(v.key)), permutation(t, v.context, key(v.key))
		if token := seal(t, s, v.id); token.String() != v.token {
			t.Errorf("key %d: token of %s %d = %v, want %s", v.key, v.context, v.id, token, v.token)
		}
		token, err := opaque.ParseToken(v.token)
		need.Must(t, err)
		if id, err := s.Open(token); id != v.id || err != nil {
			t.Errorf("key %d: token %s opens to %d, %v, want %d", v.key, v.token, id, err, v.id)
		}
		if n, err := p.Permute(v.id); n != v.number || err != nil {
			t.Errorf("key %d: number of %s %d = %d, %v, want %d", v.key, v.context, v.id, n, err, v.number)
		}
		if id, err := p.Restore(v.number); id != v.id || err != nil {
			t.Errorf("key %d: number %d restores to %d, %v, want %d", v.key, v.number, id, err, v.id)
		}
	}
}

// reference does what the package documentation says, as plainly as can be.
type reference struct{ token, number []byte } // the derived keys

func newReference(context string, key []byte) reference {
	mac := func(key, data []byte) []byte {
		h := hmac.New(sha256.New, key)
		h.Write(data)
		return h.Sum(nil)
	}
	extracted := mac([]byte("github.com/uidring/uidring/uid/opaque"), key)
	return reference{
		token:  mac(extracted, []byte("token\x00"+context+"\x01")),
		number: mac(extracted, []byte("permutation\x00"+context+"\x01")),
	}
}

func encipher(key, block []byte) []byte {
	c, _ := aes.NewCipher(key) // of 32 bytes
	out := make([]byte, len(block))
	c.Encrypt(out, block)
	return out
}

// seal enciphers a block that may be none of an id's.
func (r reference) seal(high, low uint64) (opaque.Token, string) {
	block := binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, high), low)
	token := opaque.Token(encipher(r.token, block))

	// Go's base 32 goes from 0 to v where Crockford's leaves out i, l, o and u.
	const from, to = "0123456789abcdefghijklmnopqrstuv", "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
	text := strings.Map(func(c rune) rune { return rune(to[strings.IndexRune(from, c)]) },
		new(big.Int).SetBytes(token[:]).Text(32))
	return token, strings.Repeat("0", 26-len(text)) + text
}

func (r reference) permute(id uid.ID) int64 {
	upper, lower := new(big.Int), new(big.Int)
	upper.QuoRem(big.NewInt(int64(id)), big.NewInt(1<<32), lower)
	for round := range 10 {
		changed, half, width := upper, lower, uint(31)
		if round%2 == 1 {
			changed, half, width = lower, upper, 32
		}
		block := half.FillBytes(make([]byte, 16))
		block[0] = byte(round)
		value := new(big.Int).SetBytes(encipher(r.number, block))
		changed.Xor(changed, value.Rsh(value, 128-width))
	}
	return upper.Int64()<<32 + lower.Int64()
}

func againstReference(t *rapid.T) {
	k := rapid.SliceOfN(rapid.Byte(), opaque.KeySize, opaque.KeySize).Draw(t, "key")
	k[0] |= 1 // not all zeros
	context := rapid.StringN(1, -1, -1).Draw(t, "context")
	id := uid.ID(rapid.Int64Min(0).Draw(t, "id"))

	ref, s, p := newReference(context, k), sealer(t, context, k), permutation(t, context, k)
	token := seal(t, s, id)
	want, text := ref.seal(0, uint64(id))
	if token != want || token.String() != text {
		t.Fatalf("token %v, want %s", token, text)
	}
	if parsed, err := opaque.ParseToken(text); parsed != token || err != nil {
		t.Fatalf("%s is read as %v, %v", text, parsed, err)
	}
	if back, err := s.Open(token); back != id || err != nil {
		t.Fatalf("token %v opens to %d, %v, want %d", token, back, err, id)
	}
	other := opaque.Token(rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "other"))
	if back, err := s.Open(other); other != token && (back != 0 || !errors.Is(err, opaque.ErrToken)) {
		t.Fatalf("token %v opens to %d, %v, want ErrToken", other, back, err)
	}
	n, err := p.Permute(id)
	if want := ref.permute(id); n != want || err != nil {
		t.Fatalf("number %d, %v, want %d", n, err, want)
	}
	if back, err := p.Restore(n); back != id || err != nil {
		t.Fatalf("number %d restores to %d, %v, want %d", n, back, err, id)
	}
	source, err := p.Restore(int64(id)) // there is an id to every number
	if back, berr := p.Permute(source); source < 0 || back != int64(id) || err != nil || berr != nil {
		t.Fatalf("%d restores to %d, %v, and goes back to %d, %v", id, source, err, back, berr)
	}
}

func TestAgainstReference(t *testing.T) { rapid.Check(t, againstReference) }

func FuzzAgainstReference(f *testing.F) { f.Fuzz(rapid.MakeFuzz(againstReference)) }

// The tests pass where Go refuses all algorithms but those of FIPS 140, as docs/production.md says.
func TestFIPS(t *testing.T) {
	if os.Getenv("GODEBUG") == "fips140=only" {
		return
	}
	self, err := os.Executable()
	need.Must(t, err)
	tests := exec.CommandContext(t.Context(), self, "-test.short")
	tests.Env = append(os.Environ(), "GODEBUG=fips140=only")
	if out, err := tests.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}
