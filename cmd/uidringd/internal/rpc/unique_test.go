package rpc_test

import (
	"sync"
	"testing"

	"connectrpc.com/connect"

	"github.com/uidring/uidring/cmd/uidringd/internal/service"
	uidringv1 "github.com/uidring/uidring/cmd/uidringd/proto/uidring/v1"
	"github.com/uidring/uidring/cmd/uidringd/proto/uidring/v1/uidringv1connect"
)

// Concurrent clients of all protocols get ids that ascend for each, and no id twice.
// The numbers of answers with runs ascend too.
func TestUnique(t *testing.T) {
	server := serve(t, service.Config{})
	var mu sync.Mutex
	seen := map[int64]bool{}
	collect := func(ids ...int64) {
		mu.Lock()
		defer mu.Unlock()
		for _, id := range ids {
			if seen[id] {
				t.Errorf("id %d twice", id)
			}
			seen[id] = true
		}
	}
	var clients sync.WaitGroup
	for _, protocol := range [][]connect.ClientOption{nil, {connect.WithProtoJSON()}, {connect.WithGRPCWeb()}} {
		client := uidringv1connect.NewIdServiceClient(server.Client(), server.URL, protocol...)
		clients.Go(func() {
			var last int64
			for range 100 {
				answer, err := client.Next(t.Context(), &uidringv1.NextRequest{Name: "ids", N: 97})
				if err != nil {
					t.Error(err)
					return
				}
				for _, id := range answer.Ids {
					if id <= last {
						t.Errorf("id %d after %d", id, last)
					}
					last = id
				}
				collect(answer.Ids...)
			}
		})
		clients.Go(func() {
			var last uint64
			for range 100 {
				answer, err := client.Runs(t.Context(), &uidringv1.RunsRequest{Name: "ids", N: 97})
				if err != nil {
					t.Error(err)
					return
				}
				if answer.Number <= last {
					t.Errorf("number %d after %d", answer.Number, last)
				}
				last = answer.Number
				for _, run := range answer.Runs {
					for i := range run.Count {
						collect(run.First + i)
					}
				}
			}
		})
	}
	clients.Wait()
	if want := 6 * 100 * 97; len(seen) != want {
		t.Errorf("%d ids, want %d", len(seen), want)
	}
}
