//go:build linux

package fleet

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"

	uidringv1 "github.com/uidring/uidring/cmd/uidringd/proto/uidring/v1"
	"github.com/uidring/uidring/cmd/uidringd/proto/uidring/v1/uidringv1connect"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/uid/uidclient"
)

// timeout is how long a call may take.
const timeout = 2 * time.Second

// kind is a kind of client. open returns what draws n ids of a generator.
type kind struct {
	name string
	open func(t *testing.T, balancer string, servers []string, generator string) draw
}

type draw func(ctx context.Context, n int) ([]uid.ID, error)

var kinds = []kind{
	{"HTTP", openHTTP},
	{"gRPC", openGRPC},
	{"uidclient, balancer", func(t *testing.T, balancer string, _ []string, generator string) draw {
		return openClient(t, []string{balancer}, generator)
	}},
	{"uidclient, servers", func(t *testing.T, _ string, servers []string, generator string) draw {
		return openClient(t, servers, generator)
	}},
}

func openHTTP(t *testing.T, balancer string, _ []string, generator string) draw {
	transport := new(http.Transport)
	t.Cleanup(transport.CloseIdleConnections)
	client := &http.Client{Transport: transport}
	return func(ctx context.Context, n int) ([]uid.ID, error) {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("%s/v1/%s?n=%d", balancer, generator, n), nil)
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
		var ids []uid.ID
		for _, text := range strings.Fields(string(body)) {
			id, err := uid.ParseID(text)
			if err != nil {
				return nil, err
			}
			ids = append(ids, id)
		}
		return ids, nil
	}
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

func openClient(t *testing.T, urls []string, generator string) draw {
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
