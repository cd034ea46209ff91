//go:build linux

package servertest

import (
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/uidring/uidring/internal/test/need"
)

// The ports of test servers lie below those that the kernel gives out by itself, which
// other programs get. The bus of a Redis cluster has the port 10,000 above the server's.
const (
	firstPort = 10_000
	ports     = 10_000
)

// A process tries one port after another, from any.
var (
	first = rand.Int64N(ports)
	tried atomic.Int64
)

// locks is a file whose byte N is locked by the process that uses port N, so that tests
// side by side use different ports. The kernel unlocks it at the end of the process.
var locks = sync.OnceValues(func() (*os.File, error) {
	return os.OpenFile(filepath.Join(os.TempDir(), fmt.Sprintf("uidring-test-ports-%d", os.Getuid())), os.O_RDWR|os.O_CREATE, 0o600)
})

// Addresses returns n addresses on loopback that nobody listens on, and that no other test gets.
func Addresses(t testing.TB, n int) (addresses []string) {
	t.Helper()
	file, err := locks()
	need.Must(t, err)
	for range ports {
		port := firstPort + (first+tried.Add(1))%ports
		if syscall.FcntlFlock(file.Fd(), syscall.F_SETLK, &syscall.Flock_t{Type: syscall.F_WRLCK, Start: port, Len: 1}) != nil {
			continue
		}
		address := fmt.Sprintf("127.0.0.1:%d", port)
		if listener, err := net.Listen("tcp", address); err == nil {
			need.Must(t, listener.Close())
			if addresses = append(addresses, address); len(addresses) == n {
				return addresses
			}
		}
	}
	t.Fatal("no port is free")
	return nil
}
