package serve

import (
	"errors"
	"strings"
	"testing"

	"github.com/uidring/uidring/cmd/uidringd/internal/config"
	"github.com/uidring/uidring/cmd/uidringd/internal/gate"
	"github.com/uidring/uidring/cmd/uidringd/internal/service"
)

// Requests of several addresses are bounded together, those of one address by its share, and
// far too many end their connection.
func TestBegin(t *testing.T) {
	limits := config.Limits{Running: 4, Connections: 10, PerAddress: 5} // a share of 2
	for name, tt := range map[string]struct {
		addresses []int // who has begun the requests before
		by        int
		extra     bool
		want      string
	}{
		"the last place":      {[]int{1, 2, 3}, 1, false, ""},
		"no place":            {[]int{1, 1, 2, 2}, 3, false, "too many requests are under way"},
		"above the share":     {[]int{1, 1}, 1, false, "too many requests of this address are under way"},
		"on an extra":         {nil, 1, true, "too many connections are busy"},
		"far too many":        {[]int{1, 2, 3, 4, 5, 6}, 7, false, errAbort.Error()},
		"far above the share": {[]int{1, 1, 1}, 1, false, errAbort.Error()},
	} {
		s, clients := new(server), map[int]*gate.Clients{}
		begin := func(by int, extra bool) error {
			if clients[by] == nil {
				clients[by] = new(gate.Clients)
			}
			return s.begin(limits, clients[by], extra)
		}
		for _, by := range tt.addresses {
			_ = begin(by, false)
		}
		err := begin(tt.by, tt.extra)
		var refused *service.Error
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		} else if errors.As(err, &refused) && (refused.Kind != service.Unavailable || refused.Retry != retryBusy) {
			t.Errorf("%s: %+v", name, refused)
		}
	}
}
