package opaque_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"strings"
	"testing"

	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/uid/opaque"
)

// Whoever had the key could encipher what is not an id. Each bit of the redundancy
// counts by itself.
func TestRedundancy(t *testing.T) {
	s, ref := sealer(t, "orders", key(1)), newReference("orders", key(1))
	for bit := range 128 {
		high, low := uint64(0), uint64(anID)
		if bit < 64 {
			low ^= 1 << bit
		} else {
			high ^= 1 << (bit - 64)
		}
		token, _ := ref.seal(high, low)
		id, err := s.Open(token)
		switch {
		case bit < 63 && (id != anID^1<<bit || err != nil):
			t.Errorf("bit %d of the id: opens to %d, %v", bit, id, err)
		case bit >= 63 && (id != 0 || err != opaque.ErrToken):
			t.Errorf("bit %d of the redundancy: opens to %d, %v", bit, id, err)
		}
	}
}

// Whatever is wrong with a token, the answer is the same.
func TestNotAuthentic(t *testing.T) {
	s := sealer(t, "orders", key(1), key(2))
	refused := func(what string, token opaque.Token) {
		t.Helper()
		if id, err := s.Open(token); id != 0 || err != opaque.ErrToken {
			t.Errorf("%s: opens to %d, %v, want ErrToken itself", what, id, err)
		}
	}
	for _, id := range []uid.ID{0, 1, anID, math.MaxInt64} {
		token := seal(t, s, id)
		for bit := range 128 {
			altered := token
			altered[bit/8] ^= 1 << (bit % 8)
			refused(fmt.Sprintf("bit %d of the token of %d", bit, id), altered)
		}
		for _, context := range []string{"order", "orders\x00", "Orders", "users", "permutation"} {
			refused("context "+context, seal(t, sealer(t, context, key(1)), id))
		}
		refused("another key", seal(t, sealer(t, "orders", key(3)), id))
	}
	refused("the zero token", opaque.Token{})
	refused("ones", opaque.Token(bytes.Repeat([]byte{0xff}, 16)))
}

func TestRotation(t *testing.T) {
	before := sealer(t, "orders", key(1))
	learn := sealer(t, "orders", key(1), key(2))
	during := sealer(t, "orders", key(2), key(1))
	after := sealer(t, "orders", key(2))
	thrice := sealer(t, "orders", key(3), key(1), key(2), key(2))

	old, fresh := seal(t, before, anID), seal(t, after, anID)
	if old == fresh {
		t.Error("two keys make the same token")
	}
	if seal(t, learn, anID) != old || seal(t, during, anID) != fresh {
		t.Error("it is not the first key that seals")
	}
	for _, c := range []struct {
		name       string
		sealer     *opaque.Sealer
		old, fresh error
	}{
		{"before", before, nil, opaque.ErrToken},
		{"learn", learn, nil, nil},
		{"during", during, nil, nil},
		{"after", after, opaque.ErrToken, nil},
		{"thrice", thrice, nil, nil},
	} {
		for token, want := range map[opaque.Token]error{old: c.old, fresh: c.fresh} {
			id, err := c.sealer.Open(token)
			if err != want || err == nil && id != anID {
				t.Errorf("%s: opens to %d, %v, want %d, %v", c.name, id, err, anID, want)
			}
		}
	}
}

func TestNewRefuses(t *testing.T) {
	secret := "a secret of wrong length"
	for _, c := range []struct {
		context string
		keys    [][]byte
		want    string
	}{
		{"orders", nil, "opaque: invalid config: no key, want one or more of 32 bytes"},
		{"orders", [][]byte{nil}, "opaque: invalid config: key 1 of 1 has 0 bytes, want 32"},
		{"orders", [][]byte{key(1), []byte(secret)}, "opaque: invalid config: key 2 of 2 has 24 bytes, want 32"},
		{"orders", [][]byte{append(key(1), 0)}, "opaque: invalid config: key 1 of 1 has 33 bytes, want 32"},
		{"orders", [][]byte{make([]byte, 32)}, "opaque: invalid config: key 1 of 1 is all zeros, want random bytes"},
		{"", [][]byte{key(1)}, "opaque: invalid config: context is empty, want a name, such as that of the ids' table"},
		{"", [][]byte{key(1)[:16], make([]byte, 32)}, "opaque: invalid config: context is empty, want a name, such as that of the ids' table\n" +
			"opaque: invalid config: key 1 of 2 has 16 bytes, want 32\nopaque: invalid config: key 2 of 2 is all zeros, want random bytes"},
	} {
		s, err := opaque.New(c.context, c.keys...)
		if s != nil || !errors.Is(err, uid.ErrConfig) || err.Error() != c.want {
			t.Errorf("New(%q, %d keys) = %v, %v, want %s", c.context, len(c.keys), s, err, c.want)
		}
		if len(c.keys) == 1 {
			if p, err := opaque.NewPermutation(c.context, c.keys[0]); p != nil || err == nil || err.Error() != c.want {
				t.Errorf("NewPermutation(%q) = %v, %v, want %s", c.context, p, err, c.want)
			}
		}
	}
}

// What no constructor made, and negative numbers, are refused.
func TestRefused(t *testing.T) {
	s, p := sealer(t, "orders", key(1)), permutation(t, "orders", key(1))
	for _, c := range []struct {
		sealer      *opaque.Sealer
		permutation *opaque.Permutation
		id          uid.ID
		want        error
	}{
		{nil, nil, 1, uid.ErrConfig},
		{new(opaque.Sealer), new(opaque.Permutation), 1, uid.ErrConfig},
		{s, p, -1, opaque.ErrSyntax},
		{s, p, math.MinInt64, opaque.ErrSyntax},
	} {
		token, sealed := c.sealer.Seal(c.id)
		n, permuted := c.permutation.Permute(c.id)
		id, restored := c.permutation.Restore(int64(c.id))
		if token != (opaque.Token{}) || n != 0 || id != 0 {
			t.Errorf("Seal, Permute and Restore of %d = %v, %d, %d", c.id, token, n, id)
		}
		for _, err := range []error{sealed, permuted, restored} {
			if !errors.Is(err, c.want) || c.id < 0 && !strings.Contains(err.Error(), c.id.String()) {
				t.Errorf("%d: %v, want %v", c.id, err, c.want)
			}
		}
		if id, err := c.sealer.Open(opaque.Token{}); id != 0 || c.id > 0 && !errors.Is(err, uid.ErrConfig) {
			t.Errorf("Open = %v, %v", id, err)
		}
	}
}

// The caller may overwrite a key once it is given.
func TestKeysAreNotKept(t *testing.T) {
	k := key(1)
	s, p := sealer(t, "orders", k), permutation(t, "orders", k)
	clear(k)
	if want := seal(t, sealer(t, "orders", key(1)), anID); seal(t, s, anID) != want {
		t.Error("the Sealer has kept the key")
	}
	if n, err := p.Permute(anID); n != newReference("orders", key(1)).permute(anID) || err != nil {
		t.Error("the Permutation has kept the key")
	}
}

func TestKeysAreNotShown(t *testing.T) {
	s, p := sealer(t, "orders", key(1), key(2)), permutation(t, "orders", key(1))
	type exported struct {
		S *opaque.Sealer
		P *opaque.Permutation
	}
	type hidden struct {
		s opaque.Sealer
		p opaque.Permutation
	}
	var shown strings.Builder
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "% x", "%d", "%o", "%b", "%c", "%U", "%e", "%t", "%20v"} {
		if got, want := fmt.Sprintf(verb, s), `opaque.Sealer{context: "orders", keys: 2}`; got != want {
			t.Errorf("%s shows %s, want %s", verb, got, want)
		}
		if got, want := fmt.Sprintf(verb, *p), `opaque.Permutation{context: "orders"}`; got != want {
			t.Errorf("%s shows %s, want %s", verb, got, want)
		}
		fmt.Fprintf(&shown, verb+verb, exported{s, p}, hidden{*s, *p})
	}
	data, err := json.Marshal(exported{s, p})
	need.Must(t, err)
	shown.Write(data)
	slog.New(slog.NewTextHandler(&shown, nil)).Info("", "s", s, "p", p, "h", hidden{*s, *p})
	slog.New(slog.NewJSONHandler(&shown, nil)).Info("", "s", s, "p", p, "e", errors.New(fmt.Sprint(s)))

	ref := newReference("orders", key(1))
	for _, secret := range [][]byte{key(1), key(2), ref.token, ref.number} {
		for _, form := range []string{
			string(secret[:4]), hex.EncodeToString(secret[:4]), strings.Trim(fmt.Sprintf("%d", secret[:4]), "[]"),
			fmt.Sprintf("% x", secret[:4]), fmt.Sprintf("%o", secret[:4]),
		} {
			if strings.Contains(strings.ToLower(shown.String()), strings.ToLower(form)) {
				t.Errorf("%q of a key is in what is shown", form)
			}
		}
	}
}

func TestNothingIsAllocated(t *testing.T) {
	s, p := sealer(t, "orders", key(1), key(2)), permutation(t, "orders", key(1))
	token := seal(t, s, anID)
	text, buffer := token.String(), make([]byte, 0, 32)
	for name, f := range map[string]func() error{
		"Seal":       func() error { _, err := s.Seal(anID); return err },
		"Open":       func() error { _, err := s.Open(token); return err },
		"refusal":    func() error { _, _ = s.Open(opaque.Token{}); return nil },
		"Permute":    func() error { _, err := p.Permute(anID); return err },
		"Restore":    func() error { _, err := p.Restore(int64(anID)); return err },
		"ParseToken": func() error { _, err := opaque.ParseToken(text); return err },
		"AppendText": func() error { _, err := token.AppendText(buffer); return err },
	} {
		if n := testing.AllocsPerRun(1000, func() {
			if err := f(); err != nil {
				t.Error(err)
			}
		}); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}
