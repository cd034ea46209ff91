package format

import (
	"encoding/hex"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/cmd/internal/cli"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/uid/opaque"
)

// Text is how an id is written and read: as a decimal number, plain or with its bits reversed,
// in base32 or base62, or as an opaque token.
type Text struct {
	Append func(b []byte, id uid.ID) []byte
	Parse  func(text string) (uid.ID, error)
}

// forms are the texts that need no key, by the word that --form has for them.
var forms = map[string]Text{
	"decimal":  {func(b []byte, id uid.ID) []byte { return strconv.AppendInt(b, int64(id), 10) }, uid.ParseID},
	"reversed": {func(b []byte, id uid.ID) []byte { return strconv.AppendInt(b, bits.Reverse(int64(id)), 10) }, parseReversed},
	"base32":   {func(b []byte, id uid.ID) []byte { return append(b, id.Base32()...) }, uid.ParseBase32},
	"base62":   {func(b []byte, id uid.ID) []byte { return append(b, id.Base62()...) }, uid.ParseBase62},
}

const tokenForm = "token"

func parseReversed(text string) (uid.ID, error) {
	id, err := uid.ParseID(text)
	return uid.ID(bits.Reverse(int64(id))), err
}

// TextFlags are the flags that choose a Text.
type TextFlags struct{ form, keyFile, context string }

// Add adds the flags to a command.
func (f *TextFlags) Add(cmd *cobra.Command) {
	f.form = "decimal"
	words := []string{"decimal", "base32", "base62", "reversed", tokenForm}
	flags := cmd.Flags()
	flags.Var(cli.Choice{Value: &f.form, Words: words}, "form", "form of the ids: decimal, base32, base62, reversed (bits.Reverse) or token")
	cli.Complete(cmd, "form", words...)
	flags.StringVar(&f.keyFile, "token-key", "", "`file` with the tokens' key: 64 hexadecimal digits, as printed by openssl rand -hex 32")
	flags.StringVar(&f.context, "token-context", "", "`context` of the tokens, such as the name of a table; see package uid/opaque")
	cli.CompleteFiles(cmd, "token-key")
}

// Open returns the Text that the flags say.
func (f *TextFlags) Open() (Text, error) {
	if f.form != tokenForm {
		if f.keyFile != "" || f.context != "" {
			return Text{}, cli.Usagef("--token-key and --token-context are for --form token")
		}
		return forms[f.form], nil
	}
	if f.keyFile == "" || f.context == "" {
		return Text{}, cli.Usagef("--form token needs --token-key and --token-context, for example --form token --token-key key.hex --token-context orders")
	}
	text, err := cli.ReadFile(f.keyFile, 1<<10)
	if err != nil {
		return Text{}, fmt.Errorf("--token-key: %w", err)
	}
	key, err := hex.DecodeString(strings.TrimSpace(string(text)))
	if err != nil || len(key) != opaque.KeySize { // err can show a part of the key
		return Text{}, fmt.Errorf("--token-key: %s is not a key; want %d hexadecimal digits, as openssl rand -hex %d makes them",
			f.keyFile, 2*opaque.KeySize, opaque.KeySize)
	}
	sealer, err := opaque.New(f.context, key)
	if err != nil {
		return Text{}, cli.Usagef("--token-context: %w", err)
	}
	return Text{
		Append: func(b []byte, id uid.ID) []byte {
			token, _ := sealer.Seal(id) // which fails for negative ids, and no generator makes one
			b, _ = token.AppendText(b)
			return b
		},
		Parse: func(text string) (uid.ID, error) {
			token, err := opaque.ParseToken(text)
			if err != nil {
				return 0, err
			}
			return sealer.Open(token)
		},
	}, nil
}

// Hint says why a text may not parse as an id.
func (f *TextFlags) Hint(text string) string {
	if strings.HasPrefix(text, "\xff\xfe") || strings.HasPrefix(text, "\xfe\xff") {
		return "; this looks like UTF-16, want UTF-8"
	}
	if f.form == "decimal" || f.form == "reversed" {
		if hint := misspelled(text); hint != "" {
			return hint
		}
	}
	likely := map[int]string{11: "base62", 13: "base32", 26: tokenForm}[len(text)]
	if likely == "" || likely == f.form || !readable(likely, text) {
		return ""
	}
	return "; if this is a " + likely + " id, add --form " + likely
}

// readable reports whether a text can be an id in a form, whatever the key of a token is.
func readable(form, text string) bool {
	if form == tokenForm {
		_, err := opaque.ParseToken(text)
		return err == nil
	}
	_, err := forms[form].Parse(text)
	return err == nil
}

var (
	rounded  = regexp.MustCompile(`^[+-]?[0-9]+([.,][0-9]+)?[eE][+-]?[0-9]+$`)
	fraction = regexp.MustCompile(`^[0-9]+[.,]0{1,2}$`)
	grouped  = regexp.MustCompile(`^[0-9]{1,3}([,.'’_ \x{a0}\x{2009}\x{202f}][0-9]{3})+$`)
)

// misspelled says what another program has made of a decimal number.
func misspelled(text string) string {
	bare := strings.Trim(text, "\"'`“”‘’«»,;")
	switch _, err := uid.ParseID(bare); {
	case rounded.MatchString(bare):
		return "; a program such as a spreadsheet has rounded this number, so that the id is lost: export the column as text"
	case fraction.MatchString(bare):
		return "; this was a floating-point number, which rounds ids above 2^53: read the column as text or as integers"
	case grouped.MatchString(bare):
		return "; remove the separators between groups of digits"
	case err == nil && bare != text:
		return "; remove the quotation marks and the separators around the digits"
	}
	return ""
}
