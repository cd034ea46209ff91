//go:build linux

package workerzk_test

import (
	"context"
	"errors"
	"net"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/uidring/uidring/internal/test/servertest"
)

// TestMain runs the tests and ends the shared server.
func TestMain(m *testing.M) {
	code := m.Run()
	end()
	os.Exit(code)
}

// single starts a server that the tests share, each with nodes of its own.
var single = sync.OnceValues(func() (*servertest.ZooKeeper, error) {
	folder, err1 := os.MkdirTemp("", "uidring-zk")
	address, err2 := servertest.Address()
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	s, err := servertest.LaunchZooKeeper(folder, address)
	end = func() {
		if s != nil {
			s.Kill()
		}
		os.RemoveAll(folder)
	}
	return s, err
})

// end ends the shared server.
var end = func() {}

// shared returns the address of the shared server.
func shared(t *testing.T) []string {
	t.Helper()
	if _, err := servertest.Classpath(); err != nil {
		t.Skip(err)
	}
	s, err := single()
	if err != nil {
		t.Fatal(err)
	}
	return []string{s.Address}
}

// quiet drops what the client logs.
type quiet struct{}

func (quiet) Printf(string, ...any) {}

// connect opens a connection that ends with the test.
func connect(t *testing.T, servers []string, session time.Duration, dial zk.Dialer) *zk.Conn {
	t.Helper()
	if dial == nil {
		dial = net.DialTimeout
	}
	conn, events, err := zk.Connect(servers, session, zk.WithLogger(quiet{}), zk.WithDialer(dial))
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		for range events {
		}
	}()
	t.Cleanup(conn.Close)
	return conn
}

// ready waits for a session. The machine may be slow.
func ready(t *testing.T, conn *zk.Conn) *zk.Conn {
	t.Helper()
	servertest.Eventually(t, "there is a session", func() bool { return conn.State() == zk.StateHasSession })
	return conn
}

func background(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	t.Cleanup(cancel)
	return ctx
}
