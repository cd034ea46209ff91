//go:build linux

package generators_test

import (
	"net/url"
	"testing"

	mysqldriver "github.com/go-sql-driver/mysql"

	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/internal/test/servertest"
)

// Numbers and counters come from each kind of server.
func TestServers(t *testing.T) {
	for name, dsn := range map[string]func(t *testing.T) string{
		"redis": func(t *testing.T) string {
			return "redis://" + servertest.StartRedis(t, servertest.Durable...).Address()
		},
		"etcd": func(t *testing.T) string {
			return "etcd://" + servertest.StartEtcd(t, 1)[0].Address
		},
		"zk": func(t *testing.T) string { return "zk://" + servertest.StartZooKeeper(t, 1, nil)[0].Address },
		"kube": func(t *testing.T) string {
			k := servertest.StartKube(t)
			return "kube://?kubeconfig=" + k.Kubeconfig(t, servertest.KubeAdmin, "default")
		},
		"mysql": func(t *testing.T) string {
			c, err := mysqldriver.ParseDSN(need.Variable(t, "UIDRING_TEST_MYSQL"))
			need.Must(t, err)
			return (&url.URL{Scheme: "mysql", User: url.UserPassword(c.User, c.Passwd), Host: c.Addr, Path: "/" + c.DBName}).String()
		},
		"postgres": func(t *testing.T) string { return need.Variable(t, "UIDRING_TEST_POSTGRES") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("UIDRINGD_TEST_STORE", dsn(t))
			text := "stores: [{name: s, env: UIDRINGD_TEST_STORE}]\ngenerators:\n  - {name: ids, kind: cached, store: s}\n"
			if name != "etcd" && name != "zk" && name != "kube" { // a counter of each table, and all of them as tags
				text += "  - {name: uidringd-test-orders, kind: segment, store: s, create: true}\n  - {name: tags, kind: tags, store: s, match: uidringd-*}\n"
			}
			if name == "mysql" || name == "postgres" {
				text += "  - {name: more, kind: segment, store: s, create: true, table: sequence, tag: uidringd-test-more}\n  - {name: stamps, kind: default, store: s, worker: registry}\n"
			}
			s := open(t, text)
			defer end(t, s)
			for _, g := range parse(t, text).Generators {
				if g.Kind != "tags" {
					draw(t, s, g.Name, 2000)
				}
			}
			if unready := s.Unready(); len(unready) != 0 {
				t.Errorf("not ready: %v", unready)
			}
		})
	}
}
