package main

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync/atomic"

	"github.com/uidring/uidring/cmd/uidring/bench/measure"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/uid/uidclient"
)

const (
	clientCap  = "none; the server sees a request for each answer"
	clientLess = "order between servers; needs a server"
	clientAs   = "server of a counter on loopback, in this process; answers grow with the rate, to 2^24 ids"
	clientFew  = "the same server; at most 10,000 ids an answer, the default, so that fetches count"
)

var (
	clientNext = impl{Subject: clients("Client.Next", 1, uidclient.GreatestMaxIDs, clientNextLoop),
		Package: "uidring `uidclient.Client`, `Next`", Kind: ours, Cap: clientCap, GivesUp: clientLess, Setup: clientAs, Bars: nextBars}
	clientFetch = impl{Subject: clients("Client.Next, small answers", 1, uidclient.DefaultMaxIDs, clientNextLoop),
		Package: "uidring `uidclient.Client`, `Next`, small answers", Kind: ours, Cap: clientCap, GivesUp: clientLess, Setup: clientFew}
	clientNextN = impl{Subject: clients("Client.NextN(256)", measure.Batch, uidclient.GreatestMaxIDs, nextNLoop[*uidclient.Client]),
		Package: "uidring `uidclient.Client`, `NextN` of 256", Kind: ours, Cap: clientCap, GivesUp: clientLess, Setup: clientAs, Bars: nextNBars}
	clientAll = impl{Subject: clients("Client.All", 1, uidclient.GreatestMaxIDs, clientAllLoop),
		Package: "uidring `uidclient.Client`, a loop over `All`", Kind: ours, Cap: clientCap, GivesUp: "order between loops; " + clientLess, Setup: clientAs, Bars: allBars}
)

func clientNextLoop(gen *uidclient.Client, n int) (uint64, error) {
	return measure.Repeat(n, func() (uint64, error) { id, err := gen.Next(); return uint64(id), err })
}

// clientAllLoop is allLoop of a client: a generic function would keep the compiler from
// inlining the loop.
func clientAllLoop(gen *uidclient.Client, n int) (uint64, error) {
	for id, err := range gen.All(context.Background()) {
		if n--; n == 0 || err != nil {
			return uint64(id), err
		}
	}
	return 0, nil
}

// clients returns a client of a server on loopback. Each answer is a refill.
func clients(name string, perCall int, maxIDs int64, loop func(*uidclient.Client, int) (uint64, error)) measure.Subject {
	return measure.Subject{Name: name, Open: func() (*measure.Instance, error) {
		server := httptest.NewServer(new(counter))
		config := uidclient.Config{MaxIDs: maxIDs, MaxAge: -1, Logger: silent}
		gen, err := uidclient.New(context.Background(), []string{server.URL}, "orders", config)
		if err != nil {
			server.Close()
			return nil, err
		}
		return &measure.Instance{
			Loop:    func(n int) (uint64, error) { return loop(gen, n) },
			PerCall: perCall,
			Stats: func() uid.Stats {
				s := gen.Stats()
				return uid.Stats{Issued: s.Issued, Refills: s.Fetches, Helps: s.Starved, RejectedTakes: s.RejectedTakes}
			},
			Close: func() error { defer server.Close(); return gen.Close() },
		}, nil
	}}
}

// counter answers each request with one run.
type counter struct{ number, last atomic.Int64 }

func (c *counter) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	n, err := strconv.ParseInt(r.URL.Query().Get("n"), 10, 64)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	fmt.Fprintf(w, `{"instance":"1","number":%d,"runs":[{"first":"%d","count":%d}]}`, c.number.Add(1), c.last.Add(n)-n+1, n)
}
