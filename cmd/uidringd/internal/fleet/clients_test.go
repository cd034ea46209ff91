//go:build linux

package fleet

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"

	uidringv1 "github.com/uidring/uidring/cmd/uidringd/proto/uidring/v1"
	"github.com/uidring/uidring/cmd/uidringd/proto/uidring/v1/uidringv1connect"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/uid/uidclient"
)

const (
	// timeout is how long a call may take, where servers are killed.
	timeout = 2 * time.Second

	// patience is how long a call may take where none may fail. Ids come within
	// milliseconds, but a disk may stall.
	patience = 20 * time.Second
)

// kind is a kind of client. open returns what draws n ids of a generator.
type kind struct {
	name    string
	calls   int           // of a client, at least; 0 is leastCalls
	pause   time.Duration // between calls; 0 is a millisecond
	timeout time.Duration // of a call
	missing error         // why no such client can run here
	open    func(t *testing.T, balancer string, servers []string, generator string) draw
}

type draw func(ctx context.Context, n int) ([]uid.ID, error)

// kinds are all kinds, whose calls may take so long.
func kinds(t *testing.T, timeout time.Duration) []kind {
	return slices.Concat(clients(timeout), redisKinds(t, timeout))
}

// clients are the kinds that ask the balancer or servers by address.
func clients(timeout time.Duration) []kind {
	return []kind{
		{name: "HTTP", timeout: timeout, open: openHTTP},
		{name: "runs", timeout: timeout, open: openRuns},
		{name: "gRPC", timeout: timeout, open: openGRPC},
		{name: "uidclient, balancer", timeout: timeout, open: func(t *testing.T, balancer string, _ []string, generator string) draw {
			return openClient(t, []string{balancer}, generator, timeout)
		}},
		{name: "uidclient, servers", timeout: timeout, open: func(t *testing.T, _ string, servers []string, generator string) draw {
			return openClient(t, servers, generator, timeout)
		}},
	}
}

func openHTTP(t *testing.T, balancer string, _ []string, generator string) draw {
	ask := openAnswers(t)
	return func(ctx context.Context, n int) ([]uid.ID, error) {
		body, err := ask(ctx, http.MethodGet, fmt.Sprintf("%s/v1/%s?n=%d", balancer, generator, n))
		if err != nil {
			return nil, err
		}
		return read(body)
	}
}

func openRuns(t *testing.T, balancer string, _ []string, generator string) draw {
	ask := openAnswers(t)
	return func(ctx context.Context, n int) (ids []uid.ID, err error) {
		body, err := ask(ctx, http.MethodPost, fmt.Sprintf("%s/v1/%s/runs?n=%d", balancer, generator, n))
		if err != nil {
			return nil, err
		}
		var answer struct {
			Runs []struct {
				First uid.ID
				Count int
			}
		}
		err = json.Unmarshal(body, &answer)
		for _, run := range answer.Runs {
			for i := range run.Count {
				ids = append(ids, run.First+uid.ID(i))
			}
		}
		return ids, err
	}
}

// openAnswers returns what asks by HTTP, and fails unless the answer is good.
func openAnswers(t *testing.T) func(ctx context.Context, method, url string) ([]byte, error) {
	transport := new(http.Transport)
	t.Cleanup(transport.CloseIdleConnections)
	client := &http.Client{Transport: transport}
	return func(ctx context.Context, method, url string) ([]byte, error) {
		request, err := http.NewRequestWithContext(ctx, method, url, nil)
		if err != nil {
			return nil, err
		}
		response, err := client.Do(request)
		if err != nil {
			return nil, err
		}
		defer response.Body.Close()
		body, err := io.ReadAll(response.Body)
		if err != nil || response.StatusCode != http.StatusOK {
			return nil, fmt.Errorf("%s: %s, %w", response.Status, body, err)
		}
		return body, nil
	}
}

// read reads ids, one a line.
func read(text []byte) (ids []uid.ID, err error) {
	for _, text := range strings.Fields(string(text)) {
		id, err := uid.ParseID(text)
		if err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, nil
}

func openGRPC(t *testing.T, balancer string, _ []string, generator string) draw {
	transport := &http.Transport{Protocols: new(http.Protocols)}
	transport.Protocols.SetUnencryptedHTTP2(true)
	t.Cleanup(transport.CloseIdleConnections)
	client := uidringv1connect.NewIdServiceClient(&http.Client{Transport: transport}, balancer, connect.WithGRPC())
	return func(ctx context.Context, n int) ([]uid.ID, error) {
		response, err := client.Next(ctx, &uidringv1.NextRequest{Name: generator, N: int32(n)})
		if err != nil {
			return nil, err
		}
		var ids []uid.ID
		for _, id := range response.GetIds() {
			ids = append(ids, uid.ID(id))
		}
		return ids, nil
	}
}

func openClient(t *testing.T, urls []string, generator string, timeout time.Duration) draw {
	client, err := uidclient.New(t.Context(), urls, generator, uidclient.Config{Timeout: timeout})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return func(_ context.Context, n int) ([]uid.ID, error) {
		ids := make([]uid.ID, n)
		got, err := client.NextN(ids)
		return ids[:got], err
	}
}
