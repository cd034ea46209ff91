//go:build linux

package servers

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"

	"github.com/uidring/uidring/internal/test/dbtest"
	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/internal/test/servertest"
)

// generators are those of the servers: ids of the clock, and ids of a counter.
var generators = []string{"ids", "orders"}

// config of a server: address, socket, URL of the database, more stores, step of orders,
// more generators, limits, and how long the server is not ready before it
// ends.
const config = `
listen: %[1]s
redis: {listen: "unix:%[2]s"}
stores:
  - name: db
    url: %[3]s
generators:
  - name: ids
    kind: cached
    worker: lease
    store: db
  - name: orders
    kind: segment
    store: db
    create: true
%[4]s
shutdown:
  delay: %[5]s
`

var (
	dir   string    // of the program
	built sync.Once // for all tests
)

func TestMain(m *testing.M) {
	var err error
	if dir, err = os.MkdirTemp("", "servers"); err != nil {
		panic(err)
	}
	code := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// newServers starts three servers on one database. more is a line of orders, or of the config.
func newServers(t *testing.T, database servertest.Database, delay, more string) (servers []*servertest.Member) {
	t.Helper()
	built.Do(func() { need.Build(t, dir, "github.com/uidring/uidring/cmd/uidringd") })
	db := database.Start(t, dbtest.Answers)
	for i, address := range servertest.Addresses(t, 3) {
		file := filepath.Join(t.TempDir(), fmt.Sprintf("uidring-%d.yaml", i))
		text := fmt.Sprintf(config, address, socket(address), db.URL(db.Address), more, delay)
		need.Must(t, os.WriteFile(file, []byte(text), 0o600))
		s := servertest.Program{
			Command: func(string) *exec.Cmd { return exec.Command(filepath.Join(dir, "uidringd"), "--config", file) },
			End:     syscall.SIGKILL,
			Ready:   ready,
		}.At(address)
		s.Restart(t)
		servers = append(servers, s)
	}
	return servers
}

// ready returns nil if the server at an address is ready.
func ready(address string) error { return servertest.Answers(address, "/readyz") }

// newBalancer leads each connection to a random server that is ready, and returns its URL.
func newBalancer(t *testing.T, servers []*servertest.Member) string {
	t.Helper()
	return "http://" + servertest.NewLink(t, func() string {
		for _, i := range rand.Perm(len(servers)) {
			if ready(servers[i].Address) == nil {
				return servers[i].Address
			}
		}
		return "127.0.0.1:0" // where nobody listens
	}).Address()
}

// databases are what servers share.
var databases = map[string]func(t *testing.T, dir string) servertest.Database{
	"mariadb":  servertest.MariaDB,
	"postgres": servertest.Postgres,
}
