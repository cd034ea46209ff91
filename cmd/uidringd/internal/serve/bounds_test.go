package serve

import (
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/uidring/uidring/cmd/uidringd/internal/config"
	"github.com/uidring/uidring/cmd/uidringd/internal/gate"
	"github.com/uidring/uidring/cmd/uidringd/internal/service"
)

// Requests of several addresses are bounded together, and those of one address by its share. An
// address with few has room above the limit. Far too many refusals end their connection.
func TestBegin(t *testing.T) {
	limits := config.Limits{Running: 200, Connections: 10, PerAddress: 5} // a share of 100
	for name, tt := range map[string]struct {
		before map[int]int // requests by address
		by     int
		extra  bool
		want   string
	}{
		"the last place":       {map[int]int{1: 99, 2: 100}, 1, false, ""},
		"few above all":        {map[int]int{1: 100, 2: 100, 3: few - 1}, 3, false, ""},
		"more than few":        {map[int]int{1: 100, 2: 100, 3: few}, 3, false, "too many requests are under way"},
		"few, far above all":   {map[int]int{1: 100, 2: 100, 3: few, 4: 18}, 4, false, "too many requests are under way"},
		"above the share":      {map[int]int{1: 100}, 1, false, "too many requests of this address are under way"},
		"on an extra":          {nil, 1, true, "too many connections are busy"},
		"too many refusals":    {map[int]int{1: 126}, 1, false, errAbort.Error()},
		"of others":            {map[int]int{1: 126}, 2, false, ""},
		"too many of all":      {map[int]int{1: 125, 2: 125, 3: few + 1}, 3, false, errAbort.Error()},
		"one place after them": {map[int]int{1: 125, 2: 124, 3: few}, 3, false, "too many requests are under way"},
	} {
		s, clients := new(server), map[int]*gate.Clients{}
		begin := func(by int, extra bool) error {
			if clients[by] == nil {
				clients[by] = new(gate.Clients)
			}
			return s.begin(limits, clients[by], extra)
		}
		ends := []func(){}
		for by := range 5 {
			for range tt.before[by] {
				err := begin(by, false)
				ends = append(ends, func() { s.end(clients[by], err) })
			}
		}
		err := begin(tt.by, tt.extra)
		var refused *service.Error
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		} else if errors.As(err, &refused) && (refused.Kind != service.Unavailable || refused.Retry != retryBusy) {
			t.Errorf("%s: %+v", name, refused)
		}
		s.end(clients[tt.by], err)
		for _, end := range ends {
			end()
		}
		if s.running.Load() != 0 || s.refused.Load() != 0 || clients[tt.by].Requests.Load() != 0 || clients[tt.by].Refused.Load() != 0 {
			t.Errorf("%s: requests are counted after their end", name)
		}
	}
	limits = config.Limits{Running: 1, Connections: 10, PerAddress: 5}
	if err := new(server).begin(limits, new(gate.Clients), false); err != nil {
		t.Errorf("the only request of a limit of one: %v", err)
	}
}

// A host that a shell reads does not stand in a line for a shell.
func TestRedisCLI(t *testing.T) {
	for host, want := range map[string]string{"ids.local": "redis-cli -h ids.local -p 1", "127.0.0.1": "redis-cli -p 1", "$(id)": "redis-cli -p 1", "": "redis-cli -p 1"} {
		for _, ip := range []net.IP{nil, net.IPv4zero, net.IPv6unspecified} {
			if got := redisCLI(new(config.Config), &net.TCPAddr{IP: ip, Port: 1}, host); got != want {
				t.Errorf("for %q at %v: %s, want %s", host, ip, got, want)
			}
		}
	}
}

func TestProbe(t *testing.T) {
	for path, want := range map[string]bool{"/readyz": true, "/grpc.health.v1.Health/Check": true, "/grpc.health.v1.Health/Watch": false, "/v1/readyz": false} {
		if got := probe(httptest.NewRequest(http.MethodPost, path, nil)); got != want {
			t.Errorf("%s is a probe: %t", path, got)
		}
	}
}
