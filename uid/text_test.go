package uid_test

import (
	"cmp"
	"errors"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/uidring/uidring/uid"
)

// forms are the ways in which an id is written with a fixed number of letters.
var forms = []struct {
	name      string
	letters   string
	width     int
	text      func(uid.ID) string
	parse     func(string) (uid.ID, error)
	canonical func(string) string
}{
	{
		"base32", "0123456789ABCDEFGHJKMNPQRSTVWXYZ", 13, uid.ID.Base32, uid.ParseBase32,
		func(text string) string {
			return strings.NewReplacer("I", "1", "L", "1", "O", "0").Replace(strings.ToUpper(text))
		},
	},
	{
		"base62", "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz", 11, uid.ID.Base62, uid.ParseBase62,
		func(text string) string { return text },
	},
}

// The texts were computed with another program.
func TestTexts(t *testing.T) {
	for _, c := range []struct {
		id    uid.ID
		texts []string // as forms
	}{
		{0, []string{"0000000000000", "00000000000"}},
		{1, []string{"0000000000001", "00000000001"}},
		{31, []string{"000000000000Z", "0000000000V"}},
		{32, []string{"0000000000010", "0000000000W"}},
		{36, []string{"0000000000014", "0000000000a"}},
		{61, []string{"000000000001X", "0000000000z"}},
		{62, []string{"000000000001Y", "00000000010"}},
		{1 << 32, []string{"0000004000000", "000004gfFC4"}},
		{960121041164754944, []string{"0TMR900001R00", "18vMbLaU6vg"}},
		{1<<53 - 1, []string{"007ZZZZZZZZZZ", "00fFgnDxSe7"}},
		{1 << 62, []string{"4000000000000", "5UfZOVH2ZO4"}},
		{math.MaxInt64, []string{"7ZZZZZZZZZZZZ", "AzL8n0Y58m7"}},
	} {
		for i, form := range forms {
			if got := form.text(c.id); got != c.texts[i] {
				t.Errorf("%s of %d = %s, want %s", form.name, c.id, got, c.texts[i])
			}
			if got, err := form.parse(c.texts[i]); got != c.id || err != nil {
				t.Errorf("%s %s = %d, %v, want %d", form.name, c.texts[i], got, err, c.id)
			}
		}
	}
}

// Each letter means its value at the first place, at the last, and all else is
// refused there.
func TestLettersOfTexts(t *testing.T) {
	for _, form := range forms {
		for c := range 256 {
			letter := string([]byte{byte(c)})
			canonical := letter
			if c < 0x80 {
				canonical = form.canonical(letter)
			}
			value := strings.Index(form.letters, canonical)
			id, err := form.parse(strings.Repeat("0", form.width-1) + letter)
			if value < 0 {
				if !errors.Is(err, uid.ErrSyntax) {
					t.Errorf("%s: letter %q is read as %d, %v", form.name, letter, id, err)
				}
			} else if id != uid.ID(value) || err != nil {
				t.Errorf("%s: letter %q is read as %d, %v, want %d", form.name, letter, id, err, value)
			}
		}
	}
}

func TestTextsRefused(t *testing.T) {
	for _, c := range []struct {
		form       int
		text, want string
	}{
		{0, "", `"", want 13 characters of Crockford's base32, not 0`},
		{0, "0TMR900001R0", `"0TMR900001R0", want 13 characters of Crockford's base32, not 12`},
		{0, "960121041164754944", `"960121041164754944", want 13 characters of Crockford's base32, not 18`},
		{0, "0TMR-90000-1R", `"0TMR-90000-1R", "-" at 5 is not a character of Crockford's base32, want 13 of them`},
		{0, "000000000000U", `"000000000000U", "U" at 13 is not a character of Crockford's base32, want 13 of them`},
		{0, "u", `"u", "u" at 1 is not a character of Crockford's base32, want 13 of them`},
		{0, "０00000000000", `"０00000000000", "０" at 1 is not a character of Crockford's base32, want 13 of them`},
		{0, "0000000000000é", `"0000000000000é", want 13 characters of Crockford's base32, not 14`},
		{0, "00\xff0000000000", `"00\xff0000000000", "\xff" at 3 is not a character of Crockford's base32, want 13 of them`},
		{0, "8000000000000", `"8000000000000", want at most 7ZZZZZZZZZZZZ in Crockford's base32`},
		{0, "G000000000000", `"G000000000000", want at most 7ZZZZZZZZZZZZ in Crockford's base32`},
		{0, "ZZZZZZZZZZZZZ", `"ZZZZZZZZZZZZZ", want at most 7ZZZZZZZZZZZZ in Crockford's base32`},
		{1, "0000000000", `"0000000000", want 11 characters of base62, not 10`},
		{1, "00000000 00", `"00000000 00", " " at 9 is not a character of base62, want 11 of them`},
		{1, "AzL8n0Y58m8", `"AzL8n0Y58m8", want at most AzL8n0Y58m7 in base62`},
		{1, "AzL8n0Y58n0", `"AzL8n0Y58n0", want at most AzL8n0Y58m7 in base62`},
		{1, "LygHa16AHYG", `"LygHa16AHYG", want at most AzL8n0Y58m7 in base62`},
		{1, "zzzzzzzzzzz", `"zzzzzzzzzzz", want at most AzL8n0Y58m7 in base62`},
	} {
		id, err := forms[c.form].parse(c.text)
		if !errors.Is(err, uid.ErrSyntax) || err.Error() != uid.ErrSyntax.Error()+": "+c.want || id != 0 {
			t.Errorf("%s %q = %d\n%v, want\n%v: %s", forms[c.form].name, c.text, id, err, uid.ErrSyntax, c.want)
		}
	}
	for _, form := range forms {
		for _, fill := range []string{"0", "-", "é"} {
			if _, err := form.parse(strings.Repeat(fill, 1<<20)); err == nil || len(err.Error()) > 300 {
				t.Errorf("%s: the error for a megabyte of %q quotes all of it", form.name, fill)
			}
		}
	}
}

// Texts are read back, and sort as the ids do.
func readAndSorted(t *rapid.T) {
	ids := rapid.Custom(func(t *rapid.T) uid.ID {
		return uid.ID(rapid.Int64Min(0).Draw(t, "id") >> rapid.IntRange(0, 62).Draw(t, "shift"))
	})
	a, b := ids.Draw(t, "a"), ids.Draw(t, "b")
	if rapid.Bool().Draw(t, "near") {
		b = a ^ 1
	}
	for _, form := range forms {
		text := form.text(a)
		if back, err := form.parse(text); back != a || err != nil || len(text) != form.width {
			t.Errorf("%s of %d = %s, read back as %d, %v", form.name, a, text, back, err)
		}
		if got, want := strings.Compare(text, form.text(b)), cmp.Compare(a, b); got != want {
			t.Errorf("%s: %d and %d compare as %d, their texts as %d", form.name, a, b, want, got)
		}
	}
}

func TestTextsSortAsIDs(t *testing.T) { rapid.Check(t, readAndSorted) }

func FuzzTexts(f *testing.F) { f.Fuzz(rapid.MakeFuzz(readAndSorted)) }

func FuzzParseTexts(f *testing.F) {
	for _, text := range []string{"0tmr90000lroo", "7ZZZZZZZZZZZZ", "8000000000000", "AzL8n0Y58m7", "AzL8n0Y58m8", "０", ""} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, form := range forms {
			id, err := form.parse(text)
			switch {
			case err == nil && (id < 0 || form.text(id) != form.canonical(text)):
				t.Errorf("%s %q = %d, which is %s", form.name, text, id, form.text(id))
			case err != nil && (id != 0 || !errors.Is(err, uid.ErrSyntax)):
				t.Errorf("%s %q = %d, %v", form.name, text, id, err)
			}
		}
	})
}
