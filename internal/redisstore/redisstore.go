// Package redisstore has what stores in Redis share, apart from the client library.
package redisstore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/uidring/uidring/internal/calls"
	"github.com/uidring/uidring/internal/invalid"
)

// tagged matches a key with a hash tag: text in its first braces, which decides on the slot.
var tagged = regexp.MustCompile(`^[^{]*\{[^}]+\}`)

// CheckPrefix returns what is wrong with a store's prefix of keys. The errors name pkg.
func CheckPrefix(pkg, prefix, example string) *invalid.List {
	faults := invalid.Of(pkg)
	if !tagged.MatchString(prefix) || strings.ContainsRune(prefix, 0) || !utf8.ValidString(prefix) {
		faults.Add("Prefix", strconv.Quote(prefix), "UTF-8 without NUL, with a hash tag that keeps all keys on one server of a cluster, such as "+example)
	}
	return faults
}

// Check is CheckPrefix for the store's client too.
func Check(pkg string, client any, prefix, example string) error {
	faults := CheckPrefix(pkg, prefix, example)
	if v := reflect.ValueOf(client); !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil() {
		faults.Add("client", "nil", "a *redis.Client or a *redis.ClusterClient")
	} else if v.Type().String() == "*redis.Ring" {
		faults.Add("client", "a *redis.Ring", "a *redis.Client or a *redis.ClusterClient")
	}
	return faults.Err()
}

// ACL returns rules for ACL SETUSER: some keys, some commands on them, and what a start asks the
// server and the client sends.
func ACL(keys []string, commands ...string) string {
	var rules []string
	for _, key := range keys {
		rules = append(rules, "~"+pattern.Replace(key))
	}
	for _, command := range append(commands, "ping", "info", "time", "config|get", "cluster|slots", "command") {
		rules = append(rules, "+"+command)
	}
	return strings.Join(rules, " ")
}

// refusals begin or are part of the errors about a right that the user lacks. Outside scripts they have a code; a script's
// error begins with ERR, and then with the text of the server: Redis 8 and Valkey's, or Redis 6 and 7's.
var refusals = regexp.MustCompile(`^NOPERM |ACL failure in script: |The user executing the script can't `)

// Denied adds what to do to an error: the rules if the user lacks a right, or what to change if the server closed the
// connection unasked, as one does that expects TLS.
func Denied(err error, rules string) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, io.EOF):
		return fmt.Errorf("%w: the server closed the connection; if it expects TLS, want rediss:// or a TLSConfig", err)
	case refusals.MatchString(err.Error()):
		return fmt.Errorf("%w; the user needs %s, as uidringd schema redis prints", err, rules)
	default:
		return err
	}
}

// pattern escapes what has a meaning in the pattern of a key.
var pattern = strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`, "]", `\]`)

// OnMaster begins a script in Lua that does nothing on a replica, whose data may be old and whose
// writes are lost. At READONLY, the client closes the connection. A server that knows no roles, such
// as miniredis, has no replicas.
const OnMaster = `
do
	local info = redis.pcall('INFO', 'replication')
	if type(info) == 'table' then info = redis.call('INFO') end -- a user without the right fails here
	if string.find(info, 'role:', 1, true) and not string.find(info, 'role:master', 1, true) then
		return redis.error_reply('READONLY the server is a replica')
	end
end
`

// Await returns what call returns, or ctx's error once ctx ends. A client without
// ContextTimeoutEnabled waits for the answer even then. The server may still execute the
// request after Await has returned, as when an answer is lost.
func Await[T any](ctx context.Context, call func() (T, error)) (value T, err error) {
	if err := ctx.Err(); err != nil {
		return value, err
	}
	return calls.Await(ctx, "redisstore", "the client", call)
}

// Forgets is what a store logs about a server for which Forgetful returns settings.
const Forgets = "the server may lose writes that it acknowledged, and ids may then repeat; " +
	"want appendonly yes, appendfsync always, no-appendfsync-on-rewrite no, maxmemory-policy noeviction, and Redis 6.2 or later"

var old = regexp.MustCompile(`redis_(version:(?:[1-5]|6\.[01])\.\S*)`)

// Forgetful returns the settings with which the server can forget what it acknowledged, and its version if that is too old; ""
// is none. get returns what CONFIG GET replies, and info what INFO does.
func Forgetful(get func(setting string) (map[string]string, error), info func() (string, error)) (string, error) {
	var wrong []string
	for _, s := range []struct {
		name  string
		keeps func(value string) bool
	}{
		{"appendonly", func(value string) bool { return value == "yes" }},
		{"appendfsync", func(value string) bool { return value == "always" || len(wrong) > 0 }},           // has no effect without appendonly
		{"no-appendfsync-on-rewrite", func(value string) bool { return value == "no" || len(wrong) > 0 }}, // yes flushes nothing while the file is rewritten
		{"maxmemory-policy", func(value string) bool { return !strings.HasPrefix(value, "allkeys-") }},    // the others evict only keys with an expiry
	} {
		reply, err := get(s.name)
		if err != nil {
			return "not shown", err
		}
		if value := reply[s.name]; !s.keeps(value) {
			wrong = append(wrong, s.name+" "+value)
		}
	}
	text, err := info()
	if err != nil {
		return "not shown", err
	}
	if version := old.FindStringSubmatch(text); version != nil {
		wrong = append(wrong, version[1])
	}
	return strings.Join(wrong, ", "), nil
}
