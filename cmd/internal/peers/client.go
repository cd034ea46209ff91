package main

import (
	"context"
	"os"
	"path/filepath"
	"sync"

	"github.com/uidring/uidring/cmd/internal/bench"
	"github.com/uidring/uidring/uid/uidclient"
)

const (
	clientCap  = "none; the server sees a request for each answer"
	clientLess = "time and worker in the id; needs a server"
	clientAs   = "a uidringd process on this machine with a counter in SQLite, everything by default"
	largeIDs   = 100_000
)

var (
	clientNext = impl{Subject: client("Client.Next", uidclient.Config{}),
		Package: "uidring `uidclient.Client`, `Next`", Kind: ours, Cap: clientCap, GivesUp: clientLess, Setup: clientAs, Bars: defaultBars}
	clientLarge = impl{Subject: client("Client.Next, answers of 100,000", uidclient.Config{MaxIDs: largeIDs}),
		Package: "uidring `uidclient.Client`, `Next`, answers of 100,000", Kind: ours, Cap: clientCap, GivesUp: clientLess, Setup: clientAs + ", but MaxIDs 100,000", Bars: clientBars}
)

// client returns a client of a server that Open starts and Close ends.
func client(name string, config uidclient.Config) bench.Subject {
	config.Logger = silent
	return bench.Subject{Name: name, Open: func() (*bench.Instance, error) {
		binary, err := counterServer()
		if err != nil {
			return nil, err
		}
		server, err := startUidringd(binary)
		if err != nil {
			return nil, err
		}
		open := func() (*uidclient.Client, error) {
			return uidclient.New(context.Background(), []string{"http://" + server.address}, "orders", config)
		}
		return ending(server.stop)(bench.Generator(name, 1, open, clientLoop).Open())
	}}
}

func clientLoop(c *uidclient.Client, n int) (uint64, error) {
	return bench.Repeat(n, func() (uint64, error) { id, err := c.Next(); return uint64(id), err })
}

// folder holds what a run builds.
var folder = sync.OnceValues(func() (string, error) { return os.MkdirTemp("", "uidring-bench") })

// counterServer builds uidringd once, and gives it a counter.
var counterServer = sync.OnceValues(func() (binary string, err error) {
	dir, err := folder()
	if err != nil {
		return "", err
	}
	if binary, err = build(dir, "uidringd"); err != nil {
		return "", err
	}
	config := `listen: 127.0.0.1:0
stores:
  - {name: db, url: "sqlite:` + filepath.Join(dir, "counters.db") + `"}
generators:
  - {name: orders, kind: segment, store: db, create: true}
shutdown: {delay: 0s}
`
	return binary, os.WriteFile(binary+".yaml", []byte(config), 0o600)
})
