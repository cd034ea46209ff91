package opaque_test

import (
	"bytes"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/uidring/uidring/uid/opaque"
)

var (
	_ fmt.Stringer             = opaque.Token{}
	_ encoding.TextMarshaler   = opaque.Token{}
	_ encoding.TextAppender    = opaque.Token{}
	_ encoding.TextUnmarshaler = (*opaque.Token)(nil)
)

const aText = "4EXXHVZ721QW3N4Q2AVWHBZ7YW"

func TestParseToken(t *testing.T) {
	ones := opaque.Token(bytes.Repeat([]byte{0xff}, 16))
	for text, want := range map[string]opaque.Token{
		strings.Repeat("0", 26):       {},
		strings.Repeat("0", 25) + "1": {15: 1},
		"00000000000000000000ol000O":  {13: 0x10},
		"7" + strings.Repeat("Z", 25): ones,
		"7" + strings.Repeat("z", 25): ones,
		"4" + strings.Repeat("0", 25): {0: 0x80},
		"0000000000000G000000000000":  {7: 1},
		"00000000000001000000000000":  {8: 0x10},
	} {
		if got, err := opaque.ParseToken(text); got != want || err != nil {
			t.Errorf("ParseToken(%q) = %x, %v, want %x", text, [16]byte(got), err, [16]byte(want))
		}
	}
	for text, want := range map[string]string{
		"":               `"", want 26 characters of Crockford's base32, not 0`,
		aText[1:]:        `"EXXHVZ721QW3N4Q2AVWHBZ7YW", want 26 characters of Crockford's base32, not 25`,
		aText + "0":      `"4EXXHVZ721QW3N4Q2AVWHBZ7YW0", want 26 characters of Crockford's base32, not 27`,
		"4EXX-HVZ7":      `"4EXX-HVZ7", "-" at 5 is not a character of Crockford's base32, want 26 of them`,
		"8" + aText[1:]:  `"8EXXHVZ721QW3N4Q2AVWHBZ7YW", want a first character from 0 to 7`,
		aText[:25] + "U": `"4EXXHVZ721QW3N4Q2AVWHBZ7YU", "U" at 26 is not a character of Crockford's base32, want 26 of them`,
		"8u" + aText[2:]: `"8uXXHVZ721QW3N4Q2AVWHBZ7YW", "u" at 2 is not a character of Crockford's base32, want 26 of them`,
	} {
		got, err := opaque.ParseToken(text)
		if got != (opaque.Token{}) || !errors.Is(err, opaque.ErrSyntax) || err.Error() != "opaque: malformed: "+want {
			t.Errorf("ParseToken(%q) = %v\n%v, want\nopaque: malformed: %s", text, got, err, want)
		}
	}
}

func TestTokenInJSON(t *testing.T) {
	token := seal(t, sealer(t, "orders", key(1)), anID)
	byToken := map[opaque.Token]opaque.Token{token: token}
	data, err := json.Marshal(byToken)
	if want := `{"` + aText + `":"` + aText + `"}`; string(data) != want || err != nil {
		t.Errorf("Marshal = %s, %v, want %s", data, err, want)
	}
	var back map[opaque.Token]opaque.Token
	if err := json.Unmarshal(data, &back); err != nil || !maps.Equal(back, byToken) {
		t.Errorf("Unmarshal = %v, %v", back, err)
	}
	for _, text := range []string{`""`, `"x"`, `1`, `true`, `{}`, `[1]`, `"` + aText + `0"`} {
		got := token
		if err := json.Unmarshal([]byte(text), &got); err == nil || got != token {
			t.Errorf("Unmarshal(%s) = %v, %v, want an error and the token left alone", text, got, err)
		}
	}
}

func FuzzParseToken(f *testing.F) {
	for _, text := range []string{aText, strings.ToLower(aText), "7ZZZZZZZZZZZZZZZZZZZZZZZZZ", "8ZZZZZZZZZZZZZZZZZZZZZZZZZ", "", "é"} {
		f.Add(text)
	}
	canonical := strings.NewReplacer("I", "1", "L", "1", "O", "0")
	f.Fuzz(func(t *testing.T, text string) {
		token, err := opaque.ParseToken(text)
		switch {
		case err == nil && token.String() != canonical.Replace(strings.ToUpper(text)):
			t.Errorf("%q is token %v", text, token)
		case err != nil && (token != opaque.Token{} || !errors.Is(err, opaque.ErrSyntax)):
			t.Errorf("%q is token %v, %v", text, token, err)
		}
	})
}
