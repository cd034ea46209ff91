//go:build linux

package workeretcd_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/uidring/uidring/internal/test/servertest"
	"github.com/uidring/uidring/worker/lease"
	"github.com/uidring/uidring/worker/workeretcd"
)

// A holder renews its number again after etcd has forgotten the token of its client, whatever the cause.
func TestTokenIsForgotten(t *testing.T) {
	members := servertest.StartEtcd(t, 1, "--snapshot-count", "5")
	ctx, prefix := t.Context(), workeretcd.DefaultPrefix+"/"
	as := func(user, password string) *clientv3.Client {
		return connect(t, members, func(c *clientv3.Config) {
			c.Username, c.Password, c.DialOptions = user, password, workeretcd.DialOptions()
		})
	}
	admin := as("", "")
	addUser := func() error {
		_, added := admin.UserAdd(ctx, "ids", "one")
		_, granted := admin.UserGrantRole(ctx, "ids", "ids")
		return errors.Join(added, granted)
	}
	_, err1 := admin.UserAdd(ctx, "root", "secret")
	_, err2 := admin.RoleAdd(ctx, "root")
	_, err3 := admin.UserGrantRole(ctx, "root", "root")
	_, err4 := admin.RoleAdd(ctx, "ids")
	_, err5 := admin.RoleGrantPermission(ctx, "ids", prefix, clientv3.GetPrefixRangeEnd(prefix), clientv3.PermissionType(clientv3.PermReadWrite))
	must(t, errors.Join(err1, err2, err3, err4, err5, addUser()))
	enable := func() error { _, err := admin.AuthEnable(ctx); return err }
	must(t, enable())
	admin = as("root", "secret")
	h := take(t, as("ids", "one"), lease.Config{Expiry: 2 * time.Second})
	refused := func() { // so that the holder meets what the cause has made
		before := len(h.History())
		servertest.Eventually(t, "a renewal fails", func() bool {
			return slices.ContainsFunc(h.History()[before:], func(g lease.Grant) bool { return g.Err != nil })
		})
	}
	change := func(password string) error { _, err := admin.UserChangePassword(ctx, "ids", password); return err }
	for _, cause := range []struct {
		name string
		is   func() error
	}{
		{"a member restarts", func() error {
			for range 20 { // so that a snapshot takes the place of the request that made the token
				if _, err := admin.Put(ctx, "a", "b"); err != nil {
					return err
				}
			}
			members[0].Kill()
			members[0].Restart(t)
			return nil
		}},
		{"another user is added", func() error { _, err := admin.UserAdd(ctx, "other", "secret"); return err }},
		{"the password is changed, and changed back", func() error {
			err := change("two")
			refused()
			return errors.Join(err, change("one"))
		}},
		{"the user is made again", func() error {
			_, err := admin.UserDelete(ctx, "ids")
			refused()
			return errors.Join(err, addUser())
		}},
		{"authentication is off for a while", func() error {
			_, err := admin.AuthDisable(ctx)
			h.Renew(t)
			return errors.Join(err, enable())
		}},
	} {
		must(t, cause.is())
		renewed := time.Now()
		h.Await(t, "it is renewed after "+cause.name, func(g lease.Grant) bool { return g.Err == nil && g.Until.After(renewed.Add(lease.DefaultWindow)) })
	}
	h.Kept(t)
}
