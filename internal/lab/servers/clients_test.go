//go:build linux

package servers

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"
	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	uidringv1 "github.com/uidring/uidring/cmd/uidringd/proto/uidring/v1"
	"github.com/uidring/uidring/cmd/uidringd/proto/uidring/v1/uidringv1connect"
	"github.com/uidring/uidring/internal/test/need"
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

// draw draws n ids.
type draw func(ctx context.Context, n int) ([]uid.ID, error)

// open returns a client of each kind of a generator. Its calls may take so long.
func open(t *testing.T, balancer string, servers []string, generator string, timeout time.Duration) map[string]draw {
	transport := &http.Transport{Protocols: new(http.Protocols)}
	transport.Protocols.SetHTTP1(true)
	t.Cleanup(transport.CloseIdleConnections)
	web := &http.Client{Transport: transport}
	return map[string]draw{
		"HTTP": func(ctx context.Context, n int) ([]uid.ID, error) {
			var answer struct{ IDs []uid.ID }
			err := ask(ctx, web, fmt.Sprintf("%s/v1/%s?n=%d&format=json", balancer, generator, n), &answer)
			return answer.IDs, err
		},
		"gRPC":                openGRPC(t, balancer, generator),
		"uidclient, balancer": openClient(t, []string{balancer}, generator, timeout),
		"uidclient, servers":  openClient(t, servers, generator, timeout),
		"Redis":               openRedis(t, servers, generator, timeout),
	}
}

// ask asks by HTTP, and reads the JSON of a good answer.
func ask(ctx context.Context, client *http.Client, url string, answer any) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s, %w", response.Status, body, err)
	}
	return json.Unmarshal(body, answer)
}

func openGRPC(t *testing.T, balancer, generator string) draw {
	transport := &http.Transport{Protocols: new(http.Protocols)}
	transport.Protocols.SetUnencryptedHTTP2(true)
	t.Cleanup(transport.CloseIdleConnections)
	client := uidringv1connect.NewIdServiceClient(&http.Client{Transport: transport}, balancer, connect.WithGRPC())
	return func(ctx context.Context, n int) (ids []uid.ID, err error) {
		response, err := client.Next(ctx, &uidringv1.NextRequest{Name: generator, N: int32(n)})
		for _, id := range response.GetIds() {
			ids = append(ids, uid.ID(id))
		}
		return ids, err
	}
}

func openClient(t *testing.T, urls []string, generator string, timeout time.Duration) draw {
	client, err := uidclient.New(t.Context(), urls, generator, uidclient.Config{Timeout: timeout})
	need.Must(t, err)
	t.Cleanup(func() { _ = client.Close() })
	return func(_ context.Context, n int) ([]uid.ID, error) {
		ids := make([]uid.ID, n)
		got, err := client.NextN(ids)
		return ids[:got], err
	}
}

// socket returns where the server of an address or URL serves the Redis protocol.
func socket(address string) string {
	_, port, _ := net.SplitHostPort(strings.TrimPrefix(address, "http://"))
	return filepath.Join(dir, port+".sock")
}

// openRedis has a pool whose connections lead to any of the servers that listens.
func openRedis(t *testing.T, servers []string, generator string, timeout time.Duration) draw {
	client := redis.NewClient(&redis.Options{
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
		ReadTimeout:              timeout,
		Dialer: func(ctx context.Context, _, _ string) (net.Conn, error) {
			var faults []error
			for _, i := range rand.Perm(len(servers)) {
				conn, err := (&net.Dialer{Timeout: time.Second}).DialContext(ctx, "unix", socket(servers[i]))
				if err == nil {
					return conn, nil
				}
				faults = append(faults, err)
			}
			return nil, errors.Join(faults...)
		},
	})
	t.Cleanup(func() { _ = client.Close() })
	return func(ctx context.Context, n int) ([]uid.ID, error) {
		drawn, err := client.Pipelined(ctx, func(p redis.Pipeliner) error {
			for range n {
				p.Incr(ctx, generator)
			}
			return nil
		})
		var ids []uid.ID
		for _, cmd := range drawn {
			if cmd.Err() == nil {
				ids = append(ids, uid.ID(cmd.(*redis.IntCmd).Val()))
			}
		}
		return ids, err
	}
}
