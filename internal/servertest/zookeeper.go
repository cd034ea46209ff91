//go:build linux

package servertest

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// ZooKeeper is a member of an ensemble.
type ZooKeeper struct {
	*Process
	Address string
	config  string // file
}

// Classpath is where Java finds the jars of ZooKeeper: the folder that
// UIDRING_TEST_ZOOKEEPER names, or that .ci/zookeeper makes.
var Classpath = sync.OnceValues(func() (string, error) {
	if _, err := exec.LookPath("java"); err != nil {
		return "", err
	}
	folder := os.Getenv("UIDRING_TEST_ZOOKEEPER")
	if folder == "" {
		_, here, _, _ := runtime.Caller(0)
		out, err := exec.Command(filepath.Join(filepath.Dir(here), "../../.ci/zookeeper")).Output()
		if err != nil {
			return "", fmt.Errorf("UIDRING_TEST_ZOOKEEPER is not set, and .ci/zookeeper: %w", err)
		}
		folder = strings.TrimSpace(string(out))
	}
	return filepath.Join(folder, "*"), nil
})

// StartZooKeeper starts an ensemble, and skips the test where there is no ZooKeeper. The
// first member, which does not lead at first, follows the others by a detour unless that
// is nil.
func StartZooKeeper(t testing.TB, members int, detour func(to string) string) []*ZooKeeper {
	t.Helper()
	if _, err := Classpath(); err != nil {
		t.Skip(err)
	}
	clients, quorums, elections := Addresses(t, members), Addresses(t, members), Addresses(t, members)
	servers := make([]*ZooKeeper, members)
	var starting sync.WaitGroup
	for i := range servers {
		var peers strings.Builder
		for j := range members {
			quorum := quorums[j]
			if i == 0 && j > 0 && detour != nil {
				quorum = detour(quorum)
			}
			if members > 1 {
				fmt.Fprintf(&peers, "server.%d=%s:%s\n", j+1, quorum, port(elections[j]))
			}
		}
		s, err := newZooKeeper(t.TempDir(), clients[i], i+1, peers.String())
		must(t, err)
		servers[i] = s
		starting.Go(func() { s.Restart(t) })
	}
	starting.Wait()
	if t.Failed() {
		t.FailNow()
	}
	return servers
}

// LaunchZooKeeper starts one server for several tests, which is for the caller to kill.
// Its data is in folder.
func LaunchZooKeeper(folder, address string) (*ZooKeeper, error) {
	s, err := newZooKeeper(folder, address, 1, "")
	if err != nil {
		return nil, err
	}
	cmd, err := s.command()
	if err != nil {
		return nil, err
	}
	if s.Process, err = begin(cmd, syscall.SIGKILL); err != nil {
		return nil, err
	}
	return s, s.await(s.serves)
}

func newZooKeeper(folder, address string, id int, peers string) (*ZooKeeper, error) {
	s := &ZooKeeper{Address: address, config: filepath.Join(folder, "zoo.cfg")}
	text := fmt.Sprintf("tickTime=200\ninitLimit=50\nsyncLimit=25\nmaxSessionTimeout=60000\ndataDir=%s\nclientPort=%s\n"+
		"clientPortAddress=127.0.0.1\nadmin.enableServer=false\nmaxClientCnxns=0\n4lw.commands.whitelist=srvr\n%s", folder, port(address), peers)
	return s, errors.Join(os.WriteFile(s.config, []byte(text), 0o600), os.WriteFile(filepath.Join(folder, "myid"), []byte(fmt.Sprint(id)), 0o600))
}

// command is what starts the server.
func (s *ZooKeeper) command() (*exec.Cmd, error) {
	jars, err := Classpath()
	class := "org.apache.zookeeper.server.quorum.QuorumPeerMain" // of one server too
	return held(exec.Command("java", "-Xmx96m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto", "-cp", jars, class, s.config), nil), err
}

// Restart starts the server again, after its end, on what it has on disk.
func (s *ZooKeeper) Restart(t testing.TB) {
	t.Helper()
	cmd, err := s.command()
	must(t, err)
	s.Process = launch(t, cmd, syscall.SIGKILL, s.serves)
}

// serves returns nil if the server serves.
func (s *ZooKeeper) serves() error {
	if s.mode(time.Second) == "" { // one that starts can leave the question without an answer
		return errors.New("it has no mode")
	}
	return nil
}

// Mode is leader, follower or standalone; it is empty while the server does not serve.
func (s *ZooKeeper) Mode() string { return s.mode(10 * time.Second) }

func (s *ZooKeeper) mode(patience time.Duration) string {
	conn, err := net.DialTimeout("tcp", s.Address, time.Second)
	if err != nil {
		return ""
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(patience))
	_, _ = io.WriteString(conn, "srvr")
	stats, _ := io.ReadAll(conn)
	_, mode, _ := strings.Cut(string(stats), "Mode: ")
	mode, _, _ = strings.Cut(mode, "\n")
	return mode
}

// Hosts returns the addresses of servers.
func Hosts(servers []*ZooKeeper) []string {
	var hosts []string
	for _, s := range servers {
		hosts = append(hosts, s.Address)
	}
	return hosts
}
