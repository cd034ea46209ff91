//go:build linux

package servers

import (
	"math/rand/v2"
	"net/http"
	"testing"
	"time"

	"github.com/uidring/uidring/internal/test/servertest"
)

// newBalancer leads each connection to a random server that is ready, and returns its URL.
func newBalancer(t *testing.T, servers []*server) string {
	t.Helper()
	client := &http.Client{Timeout: time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	return "http://" + servertest.NewLink(t, func() string {
		for _, i := range rand.Perm(len(servers)) {
			response, err := client.Get(servers[i].url() + "/readyz")
			if err != nil {
				continue
			}
			_ = response.Body.Close()
			if response.StatusCode == http.StatusOK {
				return servers[i].address
			}
		}
		return "127.0.0.1:0" // where nobody listens
	}).Address()
}
