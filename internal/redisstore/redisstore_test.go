package redisstore

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/uidring/uidring/internal/invalid"
)

func TestForgetful(t *testing.T) {
	for _, tt := range []struct{ appendonly, appendfsync, rewrite, policy, version, want string }{
		{"yes", "always", "no", "noeviction", "6.2.0", ""},
		{"yes", "always", "no", "noeviction", "10.0.1", ""},
		{"yes", "always", "no", "noeviction", "6.0.16", "version:6.0.16"},
		{"yes", "always", "no", "noeviction", "5.0.14", "version:5.0.14"},
		{"yes", "always", "no", "volatile-lru", "7.2.4", ""},
		{"yes", "everysec", "yes", "noeviction", "7.2.4", "appendfsync everysec"},
		{"yes", "always", "yes", "noeviction", "7.2.4", "no-appendfsync-on-rewrite yes"},
		{"no", "everysec", "yes", "noeviction", "7.2.4", "appendonly no"},
		{"no", "always", "no", "allkeys-lru", "7.2.4", "appendonly no, maxmemory-policy allkeys-lru"},
	} {
		settings := map[string]string{"appendonly": tt.appendonly, "appendfsync": tt.appendfsync,
			"no-appendfsync-on-rewrite": tt.rewrite, "maxmemory-policy": tt.policy}
		got, err := Forgetful(func(string) (map[string]string, error) { return settings, nil },
			func() (string, error) {
				return "# Server\r\nredis_version:" + tt.version + "\r\nredis_git_sha1:0\r\n", nil
			})
		if got != tt.want || err != nil {
			t.Errorf("%+v: %q, %v", tt, got, err)
		}
	}
	refused := errors.New("NOPERM")
	if got, err := Forgetful(func(string) (map[string]string, error) { return nil, refused }, nil); got != "not shown" || err != refused {
		t.Errorf("%q, %v of a server that does not show its settings", got, err)
	}
}

func TestCheck(t *testing.T) {
	client := new(int)
	for prefix, good := range map[string]bool{
		"{ids}:a": true, "a{b}": true, "": false, "ids": false, "{}ids": false, "{}{ids}": false, "{ids}\x00": false, "{ids}\xff": false,
	} {
		if err := Check("store", client, prefix, "{x}"); (err == nil) != good || !good && !errors.Is(err, invalid.ErrConfig) {
			t.Errorf("%q: %v", prefix, err)
		}
	}
	for _, client := range []any{nil, (*int)(nil)} {
		if err := Check("store", client, "", "{x}"); err == nil || strings.Count(err.Error(), "\n") != 1 {
			t.Errorf("%v, want two faults", err)
		}
	}
}

// A call that does not return is left alone when the context ends.
func TestAwait(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	hanging := make(chan struct{})
	defer close(hanging)
	_, err := Await(ctx, func() (int, error) { cancel(); <-hanging; return 1, nil })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want the context's error", err)
	}
	if _, err := Await(ctx, func() (int, error) { panic("called") }); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want the context's error", err)
	}
	if n, err := Await(t.Context(), func() (int, error) { return 1, nil }); n != 1 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
}

// Every server's way to say that the user lacks a right.
func TestDenied(t *testing.T) {
	for text, denied := range map[string]bool{
		"NOPERM this user has no permissions to run the 'hset' command or its subcommand":                                                              true, // Redis 6
		"NOPERM this user has no permissions to access one of the keys used as arguments":                                                              true,
		"ERR Error running script (call to f_1): @user_script:37: The user executing the script can't run this command or subcommand":                  true,
		"ERR Error running script (call to f_1): @user_script:37: The user executing the script can't access at least one of the keys mentioned in it": true,
		"NOPERM User ids has no permissions to run the 'config|get' command":                                                                           true, // Redis 7
		"ERR The user executing the script can't run this command or subcommand script: 68f0, on @user_script:37.":                                     true,
		"ERR ACL failure in script: User ids has no permissions to run the 'hset' command script: 68f0, on @user_script:37.":                           true, // Redis 8
		"ERR ACL failure in script: User ids has no permissions to access the '{uidring}:workers:numbers' key script: 68f0, on @user_script:37.":       true,
		"ERR ACL failure in script: User ids has no permissions to run the 'hset' command script: on @user_script:37.":                                 true, // Valkey
		"NOAUTH Authentication required.":                       false,
		"WRONGPASS invalid username-password pair":              false,
		"ERR unknown command 'hset'":                            false,
		"READONLY You can't write against a read only replica.": false,
	} {
		if err := Denied(errors.New(text), "~key +hset"); strings.Contains(err.Error(), "the user needs ~key +hset") != denied {
			t.Errorf("%v, want the rules: %t", err, denied)
		}
	}
	if err := Denied(nil, ""); err != nil {
		t.Error(err)
	}
}
