//go:build linux

package stores_test

import (
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"os/exec"
	"strings"
	"testing"

	"github.com/uidring/uidring/cmd/uidringd/internal/stores"
	"github.com/uidring/uidring/internal/test/lifecycle"
	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/internal/test/servertest"
	"github.com/uidring/uidring/worker/lease"
	"github.com/uidring/uidring/worker/workeretcd"
	"github.com/uidring/uidring/worker/workerredis"
)

// execute runs a program of a store, with text as its standard input, and returns what it prints.
func execute(t *testing.T, text, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Stdin = strings.NewReader(text)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v: %s", name, err, out)
	}
	return string(out)
}

// A user with the rights that are printed, as the store's own program takes them, and no others can do all that a
// service does.
func TestRights(t *testing.T) {
	for name, start := range map[string]func(t *testing.T, rights func(dsn string) string) (dsn string){
		"redis": func(t *testing.T, rights func(string) string) string {
			server := servertest.StartRedis(t, servertest.Durable...)
			server.Command(t, strings.TrimSpace(rights("redis://"+server.Address())))
			server.Command(t, "ACL SETUSER ids >secret")
			server.Command(t, "ACL SETUSER nobody on >secret")
			refused(t, "redis://nobody:secret@"+server.Address(), "the user needs "+workerredis.ACL(""))
			return "redis://ids:secret@" + server.Address()
		},
		"etcd": func(t *testing.T, rights func(string) string) string {
			program, endpoint := need.Program(t, "etcdctl"), servertest.StartEtcd(t, 1)[0].Endpoint
			t.Setenv("ETCDCTL_API", "3")
			t.Setenv("ETCDCTL_ENDPOINTS", endpoint)
			host := strings.TrimPrefix(endpoint, "http://")
			for _, user := range []string{"root", "ids"} {
				execute(t, "s@cret\n", program, "user", "add", user, "--interactive=false")
			}
			execute(t, rights("etcd://"+host), "sh", "-e")
			execute(t, "", program, "user", "grant-role", "root", "root")
			execute(t, "", program, "auth", "enable")
			refused(t, "etcd://ids:wrong@"+host)
			refused(t, "etcd://"+host)
			refused(t, "etcd://ids:s%40cret@"+host+"/elsewhere", "the user's role needs "+workeretcd.Role("/elsewhere"))
			return "etcd://ids:s%40cret@" + host
		},
		"zk": func(t *testing.T, rights func(string) string) string {
			address := servertest.StartZooKeeper(t, 1, nil)[0].Address
			jars, err := servertest.Classpath()
			need.Must(t, err)
			commands := strings.Replace(rights("zk://"+address), "PASSWORD", "secret", 1) + "quit\n"
			execute(t, commands, "java", "-cp", jars, "org.apache.zookeeper.ZooKeeperMain", "-server", address)
			return "zk://ids:secret@" + address
		},
		"kube": func(t *testing.T, rights func(string) string) string {
			k, core := servertest.StartKube(t), "/api/v1/namespaces/default/serviceaccounts"
			role, binding, _ := strings.Cut(rights("kube://"), "---\n")
			rbac := "/apis/rbac.authorization.k8s.io/v1/namespaces/default/"
			k.Must(t, http.MethodPost, rbac+"roles", role)
			k.Must(t, http.MethodPost, rbac+"rolebindings", binding)
			k.Must(t, http.MethodPost, core, "{metadata: {name: ids}}")
			var made struct{ Status struct{ Token string } }
			need.Must(t, json.Unmarshal([]byte(k.Must(t, http.MethodPost, core+"/ids/token", "{apiVersion: authentication.k8s.io/v1, kind: TokenRequest}")), &made))
			file := k.Kubeconfig(t, made.Status.Token, "default")
			servertest.Eventually(t, "the Role has an effect", func() bool {
				open, err := stores.At("kube://?kubeconfig="+file, "the test").Leases(t.Context(), lease.Config{})
				return err == nil && open.Close() == nil
			})
			return "kube://?kubeconfig=" + file
		},
	} {
		t.Run(name, func(t *testing.T) {
			dsn := start(t, func(dsn string) string {
				_, store, err := stores.At(dsn, "the test").Describe()
				need.Must(t, err)
				return store.Rights("ids")
			})
			lifecycle.Run(t, func(config lease.Config) *lease.Leaser {
				open, err := stores.At(dsn, "the test").Leases(t.Context(), config)
				need.Must(t, err)
				t.Cleanup(func() { closes(t, open) })
				return open.Leaser
			})
			if name != "redis" { // the others keep no counters
				return
			}
			counters, err := stores.At(dsn, "the test").Counters(t.Context(), "", true, slog.New(slog.DiscardHandler))
			need.Must(t, err)
			defer func() { need.Must(t, counters.Close()) }()
			need.Must(t, counters.Store.Create(t.Context(), "orders", 1, 10))
			_, err1 := counters.Store.Raise(t.Context(), "orders", 11)
			_, _, err2 := counters.Store.Reserve(t.Context(), "orders", 10)
			_, err3 := counters.Store.List(t.Context())
			need.Must(t, errors.Join(err1, err2, err3))
		})
	}
}
