package config

import (
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/uidring/uidring/cmd/internal/cli"
)

// check reports what is wrong with values that have the right types.
func (c *Config) check(d *document, anonymous bool) {
	c.checkListen(d, anonymous)
	c.checkTLS(d)
	d.list("stores", len(c.Stores), func(i int) string { return c.Stores[i].Name })
	for i := range c.Stores {
		c.Stores[i].check(d, item("stores", i))
	}
	c.checkGenerators(d)
	for i, store := range c.Stores {
		used := slices.ContainsFunc(c.Generators, func(g Generator) bool { return g.Store == store.Name })
		if !used && !d.unread("generators[].store") {
			d.fault(item("stores", i), "no generator uses the store %q: use it or remove it", store.Name)
		}
	}
	c.checkTokens(d)
	if wait := c.Limits.Wait; wait < time.Millisecond || wait > c.Limits.Write { // else the answer has no time
		d.fault("limits.wait", "is %v, want 1ms to %v", wait, c.Limits.Write)
	}
	d.oneOf("log.format", c.Log.Format, "text", "json")
}

func (d *document) oneOf(field, value string, words ...string) {
	if !slices.Contains(words, value) {
		d.fault(field, "is %q, want %s", value, strings.Join(words, " or "))
	}
}

// namePattern is what needs no escape in a URL.
var namePattern = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$`)

func (d *document) list(field string, n int, name func(i int) string) {
	first := map[string]int{}
	for i := range n {
		at := item(field, i) + ".name"
		if !namePattern.MatchString(name(i)) {
			d.fault(at, "is %q, want 1 to 128 letters, digits, _, . or -", name(i))
		} else if other, twice := first[name(i)]; twice {
			d.fault(at, "is %q, as is %s: want another name", name(i), item(field, other))
		}
		first[name(i)] = i
	}
}

func (c *Config) checkTLS(d *document) {
	if c.TLS == nil {
		return
	}
	if c.TLS.Cert == "" || c.TLS.Key == "" {
		d.fault("tls", "want cert and key, the paths of PEM files")
		return
	}
	if _, err := c.TLS.Load(); err != nil {
		d.fault("tls", "%s", strings.ReplaceAll(err.Error(), "\n", "; "))
	}
}

// Load reads the files. Its error has the faults of all.
func (t *TLS) Load() (*tls.Config, error) {
	pair, err := cli.KeyPair(t.Cert, t.Key)
	config := &tls.Config{Certificates: []tls.Certificate{pair}, NextProtos: []string{"h2", "http/1.1"}, MinVersion: tls.VersionTLS12}
	if t.ClientCA != "" {
		config.ClientAuth = tls.VerifyClientCertIfGiven // probes have no certificate; each route decides who has to have one
		var unread error
		config.ClientCAs, unread = cli.Authorities(t.ClientCA)
		err = errors.Join(err, unread)
	}
	if err != nil {
		return nil, err
	}
	return config, nil
}

// Hash returns the hash of the token.
func (t *Token) Hash() (hash [sha256.Size]byte, err error) {
	digits, err := hex.DecodeString(t.SHA256)
	if err != nil || len(digits) != len(hash) {
		return hash, errors.New("want 64 hexadecimal digits, as printf %s TOKEN | sha256sum prints")
	}
	return [sha256.Size]byte(digits), nil
}

// Allows reports whether the token is for the generator of a name.
func (t *Token) Allows(name string) bool {
	return slices.ContainsFunc(t.Generators, func(pattern string) bool { return Match(pattern, name) })
}

// Match is [path.Match], except that * and ? match a slash too: a counter may have any
// name.
func Match(pattern, name string) bool {
	const other = "\n" // which no name has
	match, _ := path.Match(strings.ReplaceAll(pattern, "/", other), strings.ReplaceAll(name, "/", other))
	return match
}

func (c *Config) checkTokens(d *document) {
	d.list("tokens", len(c.Tokens), func(i int) string { return c.Tokens[i].Name })
	first := map[[sha256.Size]byte]int{}
	for i, token := range c.Tokens {
		at := item("tokens", i)
		hash, err := token.Hash()
		if other, twice := first[hash]; err != nil { // the value can be the token itself, so no message has it
			d.fault(at+".sha256", "%v", err)
		} else if hash == sha256.Sum256(nil) {
			d.fault(at+".sha256", "it is that of an empty token: want another token")
		} else if twice {
			d.fault(at+".sha256", "is the same as that of %s: want another token", item("tokens", other))
		}
		first[hash] = i
		if len(token.Generators) == 0 && !token.Operations {
			d.fault(at, "the token allows nothing: want generators, or operations: true")
		}
		for j, pattern := range token.Generators {
			if fault := c.unserved(pattern); fault != "" && !d.unread("generators[].name") && !d.unread("generators[].kind") {
				d.fault(item(at+".generators", j), "is %q, %s", pattern, fault)
			}
		}
	}
}

func validPattern(pattern string) bool {
	_, err := path.Match(pattern, "")
	return err == nil && pattern != ""
}

// unserved returns why a token's pattern can match no name that is served; "" if it can. Tags
// may have any name.
func (c *Config) unserved(pattern string) string {
	if !validPattern(pattern) {
		return "want a name or a pattern such as order-*"
	}
	served := false
	for _, g := range c.Generators {
		many := g.Kind == "tags"
		if many && g.Name == pattern && !Match(g.Match, pattern) {
			return "the name of a generator of kind tags: want its counters, such as " + g.Match
		}
		served = served || many || Match(pattern, g.Name)
	}
	if !served {
		return "which is not a generator"
	}
	return ""
}
