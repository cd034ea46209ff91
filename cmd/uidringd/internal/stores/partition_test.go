//go:build linux

package stores_test

import (
	"context"
	"encoding/binary"
	"io"
	"log/slog"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/uidring/uidring/cmd/uidringd/internal/stores"
	"github.com/uidring/uidring/internal/test/dbtest"
	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/internal/test/servertest"
	"github.com/uidring/uidring/worker/lease"
)

// A connection that a network drops without a notice is given up, and so are those that
// are made meanwhile. When the network is back, the number is renewed.
func TestDroppedSilently(t *testing.T) {
	for name, tt := range map[string]struct {
		start func(t *testing.T) (address string)
		query string // of the URL
		tries int
	}{
		"etcd":  {func(t *testing.T) string { return servertest.StartEtcd(t, 1)[0].Address }, "", 2},
		"redis": {func(t *testing.T) string { return servertest.StartRedis(t).Address() }, "", 2},
		// Its client waits a minute for the first answer by itself.
		"zk": {func(t *testing.T) string { return servertest.StartZooKeeper(t, 1, nil)[0].Address }, "?timeout=2s", 10},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := tt.start(t)
			link := servertest.NewLink(t, func() string { return server })
			drop(t, link, name+"://"+link.Address()+tt.query, tt.tries)
		})
	}
}

// The same of Kubernetes.
func TestKubeDroppedSilently(t *testing.T) {
	k := servertest.StartKube(t)
	link := servertest.NewLink(t, func() string { return k.Address })
	config := filepath.Join(t.TempDir(), "kubeconfig")
	text := servertest.Kubeconfig("https://"+link.Address(), k.CA(), servertest.KubeAdmin, "default")
	need.Must(t, os.WriteFile(config, []byte(text), 0o600))
	drop(t, link, "kube://?kubeconfig="+config, 2)
}

// drop has the link of a holder carry nothing, until some more connections were tried.
func drop(t *testing.T, link *servertest.Link, dsn string, tries int) {
	until, use, await := hold(t, dsn)
	before := link.Accepted()
	link.Hang()
	await(func(g lease.Grant) bool { return g.Err != nil })
	servertest.Eventually(t, "connections are tried", func() bool { return link.Accepted() >= before+tries })
	need.Must(t, link.Mend())
	mended := link.Accepted()
	use(until, until)
	await(func(g lease.Grant) bool { return g.Until.After(until) && g.Err == nil })
	if more := link.Accepted() - mended; more > 5 {
		t.Errorf("renewed after %d more connections", more)
	}
}

// hold holds a number of a store until the test ends. await returns the next grant that matches.
func hold(t *testing.T, dsn string) (until time.Time, use func(last, until time.Time), await func(func(lease.Grant) bool) lease.Grant) {
	open, err := stores.At(dsn, "test").Leases(t.Context(), lease.Config{Expiry: 2 * time.Second, Logger: slog.New(slog.DiscardHandler)})
	need.Must(t, err)
	t.Cleanup(func() { _ = open.Close() })
	grants := make(chan lease.Grant, 1000)
	held, err := open.Lease(t.Context(), lease.Request{Limit: 1023, Clock: time.Now, Granted: func(g lease.Grant) { grants <- g }})
	need.Must(t, err)
	t.Cleanup(func() { _ = held.Release(context.Background(), time.Now()) })
	await = func(matches func(lease.Grant) bool) lease.Grant {
		t.Helper()
		for late := time.After(time.Minute); ; {
			select {
			case g := <-grants:
				if matches(g) {
					return g
				}
			case <-late:
				t.Fatal("no such grant within a minute")
			}
		}
	}
	return await(func(g lease.Grant) bool { return g.Held }).Until, held.Use, await
}

// A server moves behind its name, and its old address answers nothing. The holder's client finds the new address.
func TestNameMoves(t *testing.T) {
	var to atomic.Pointer[net.IP]
	names := net.DefaultResolver
	defer func(preferred bool, dial func(context.Context, string, string) (net.Conn, error)) {
		names.PreferGo, names.Dial = preferred, dial
	}(names.PreferGo, names.Dial)
	names.PreferGo, names.Dial = true, func(context.Context, string, string) (net.Conn, error) {
		conn, far := net.Pipe()
		go answer(far, &to)
		return conn, nil
	}
	for name, start := range map[string]func(t *testing.T) (dsn string){
		"etcd":  func(t *testing.T) string { return "etcd://" + servertest.StartEtcd(t, 1)[0].Address },
		"redis": func(t *testing.T) string { return "redis://" + servertest.StartRedis(t).Address() },
		"mysql": func(t *testing.T) string {
			return "mysql://root@" + servertest.MariaDB(t, t.TempDir()).Start(t, dbtest.Answers).Address + "/uidring"
		},
		"postgres": func(t *testing.T) string {
			s := servertest.Postgres(t, t.TempDir()).Start(t, dbtest.Answers)
			return s.URL(s.Address)
		},
	} {
		t.Run(name, func(t *testing.T) {
			at, err := url.Parse(start(t))
			need.Must(t, err)
			address := at.Host
			ips := []net.IP{net.IPv4(127, 0, 0, 1), net.IPv4(127, 0, 0, 2)}
			server := func() string { return address }
			here := servertest.Addresses(t, 1)[0] // whose port is free at the other address too: the kernel gives it to nobody
			_, port, err := net.SplitHostPort(here)
			need.Must(t, err)
			first := servertest.NewLinkAt(t, here, server)
			servertest.NewLinkAt(t, net.JoinHostPort(ips[1].String(), port), server)
			to.Store(&ips[0])
			at.Host = "moves.test:" + port
			until, use, await := hold(t, at.String())
			first.Hang()
			to.Store(&ips[1])
			use(until, until) // which no renewal before had to reserve
			await(func(g lease.Grant) bool { return g.Until.After(until.Add(time.Minute)) && g.Err == nil })
		})
	}
}

// answer answers DNS queries over TCP, where two bytes of length precede each query. Every name has the address to.
func answer(conn net.Conn, to *atomic.Pointer[net.IP]) {
	defer conn.Close()
	for {
		length := make([]byte, 2)
		if _, err := io.ReadFull(conn, length); err != nil {
			return
		}
		question := make([]byte, binary.BigEndian.Uint16(length))
		if _, err := io.ReadFull(conn, question); err != nil {
			return
		}
		end := 12 // of the header
		for question[end] != 0 {
			end += int(question[end]) + 1
		}
		end += 5 // type and class
		reply := slices.Concat(question[:2], []byte{0x84, 0x80, 0, 1, 0, 0, 0, 0, 0, 0}, question[12:end])
		if question[end-3] == 1 { // IPv4
			reply[7] = 1
			reply = append(append(reply, 0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4), to.Load().To4()...)
		}
		if _, err := conn.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(reply))), reply...)); err != nil {
			return
		}
	}
}
