//go:build linux

package torture

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// namespace is a network namespace with a link to the test's own. Nothing else is
// reachable from it.
type namespace struct{ name, near, far, address string }

// newNamespace makes a namespace, and removes it at the end of the test. Its addresses are
// of 198.18.0.0/15, which is set aside for tests of networks.
func newNamespace(t *testing.T) *namespace {
	if os.Getuid() != 0 {
		t.Skip("only root makes network namespaces")
	}
	if _, err := exec.LookPath("ip"); err != nil {
		t.Skip("there is no ip here, of iproute2")
	}
	n := rand.IntN(1 << 15)
	part := func(last int) string { return fmt.Sprintf("198.%d.%d.%d", 18+n>>14, n>>6&0xff, n&0x3f<<2+last) }
	s := &namespace{fmt.Sprintf("uidring-%04x", n), fmt.Sprintf("uidring-%04xn", n), fmt.Sprintf("uidring-%04xf", n), part(1)}
	if err := ip("netns", "add", s.name); err != nil {
		t.Skipf("this machine makes no network namespace: %v", err)
	}
	t.Cleanup(func() {
		must(t, ip("link", "del", s.near))
		must(t, ip("netns", "del", s.name))
	})
	must(t, ip("link", "add", s.near, "type", "veth", "peer", "name", s.far, "netns", s.name))
	must(t, ip("addr", "add", s.address+"/30", "dev", s.near))
	must(t, ip("link", "set", s.near, "up"))
	must(t, ip("-n", s.name, "addr", "add", part(2)+"/30", "dev", s.far))
	must(t, s.set("up"))
	return s
}

// command returns the command that runs another in the namespace; none for nil.
func (s *namespace) command() []string {
	if s == nil {
		return nil
	}
	return []string{"ip", "netns", "exec", s.name}
}

// set sets the namespace's end of the link up or down.
func (s *namespace) set(state string) error { return ip("-n", s.name, "link", "set", s.far, state) }

func ip(args ...string) error {
	if output, err := exec.Command("ip", args...).CombinedOutput(); err != nil {
		return fmt.Errorf("ip %s: %w: %s", strings.Join(args, " "), err, output)
	}
	return nil
}

// partition separates all namespaces from the servers, once their processes hold numbers.
func partition(n *nemesis) {
	d := n.between(window*4/3, 2*window)
	for i := range n.backend.namespaces {
		for s := n.seats[i]; !n.mine(s, (*process).holding); {
			n.replace(expiry) // another one's number is free, and this process waits for it
			if sleep(n.ctx, expiry) != nil {
				return
			}
		}
		n.give(n.seats[i])
	}
	n.havoc(func() error {
		all := func(state string) error {
			for _, s := range n.backend.namespaces {
				if err := s.set(state); err != nil {
					return err
				}
			}
			return nil
		}
		if err := all("down"); err != nil {
			return err
		}
		_ = sleep(n.ctx, d)
		n.note("partitions", 1)
		return all("up")
	})
}
