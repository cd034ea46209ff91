//go:build linux

package servertest

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

// Etcd is a member of a cluster.
type Etcd struct {
	*Process
	Endpoint string // its URL
	program  string
	args     []string
}

// StartEtcd starts a cluster on new directories. It skips the test where there is no
// etcd.
func StartEtcd(t testing.TB, members int, args ...string) []*Etcd {
	t.Helper()
	program := Find(t, "etcd")
	clients, peers := Addresses(t, members), Addresses(t, members)
	var cluster []string
	for i, peer := range peers {
		cluster = append(cluster, fmt.Sprintf("m%d=http://%s", i, peer))
	}
	started := make([]*Etcd, members)
	var starting sync.WaitGroup
	for i := range started {
		m := &Etcd{Endpoint: "http://" + clients[i], program: program, args: append([]string{
			"--name", fmt.Sprintf("m%d", i), "--data-dir", t.TempDir(), "--initial-cluster", strings.Join(cluster, ","),
			"--listen-client-urls", "http://" + clients[i], "--advertise-client-urls", "http://" + clients[i],
			"--listen-peer-urls", "http://" + peers[i], "--initial-advertise-peer-urls", "http://" + peers[i],
		}, args...)}
		started[i] = m
		starting.Go(func() { m.Restart(t) })
	}
	starting.Wait()
	if t.Failed() {
		t.FailNow()
	}
	return started
}

// Restart starts the member again, after its end, on what it has on disk.
func (m *Etcd) Restart(t testing.TB) {
	t.Helper()
	m.Process = Start(t, m.healthy, m.program, m.args...)
}

// healthy returns nil if the member has a leader.
func (m *Etcd) healthy() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, m.Endpoint+"/health", nil)
	if err != nil {
		return err
	}
	request.Close = true // no connection is left
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("/health answers %s", response.Status)
	}
	return nil
}

// Endpoints returns the URLs of members.
func Endpoints(members []*Etcd) []string {
	var endpoints []string
	for _, m := range members {
		endpoints = append(endpoints, m.Endpoint)
	}
	return endpoints
}
