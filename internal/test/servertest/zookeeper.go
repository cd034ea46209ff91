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
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/uidring/uidring/internal/test/need"
)

// Classpath is where Java finds the jars of ZooKeeper: those of Debian's libzookeeper-java, or
// the folder that UIDRING_TEST_ZOOKEEPER names.
var Classpath = sync.OnceValues(func() (string, error) {
	if _, err := exec.LookPath("java"); err != nil {
		return "", err
	}
	if folder := os.Getenv("UIDRING_TEST_ZOOKEEPER"); folder != "" {
		// Debian's zookeeper.jar 3.9 has an older copy of a class of zookeeper-jute.jar.
		return filepath.Join(folder, "zookeeper-jute.jar") + ":" + filepath.Join(folder, "*"), nil
	}
	const folder = "/usr/share/java" // has jars of other packages too
	jars, err := filepath.Glob(folder + "/netty-*.jar")
	for _, name := range []string{"zookeeper", "zookeeper-jute", "metrics-core", "snappy-java", "slf4j-api", "slf4j-nop", "commons-cli"} {
		jar := filepath.Join(folder, name+".jar")
		_, missing := os.Stat(jar)
		jars, err = append(jars, jar), errors.Join(err, missing)
	}
	return strings.Join(jars, ":"), err
})

// ZooKeeperPrograms are the members of an ensemble with their data below dir. If detour is
// not nil, the first member, which does not lead at first, connects to the others by detour.
func ZooKeeperPrograms(t testing.TB, dir string, members int, detour func(to string) string) []Program {
	t.Helper()
	jars, err := Classpath()
	if err != nil {
		need.Skip(t, err)
	}
	quorums, elections := Addresses(t, members), Addresses(t, members)
	programs := make([]Program, members)
	for i := range programs {
		var peers strings.Builder
		for j, quorum := range quorums {
			if i == 0 && j > 0 && detour != nil {
				quorum = detour(quorum)
			}
			if members > 1 {
				fmt.Fprintf(&peers, "server.%d=%s:%s\n", j+1, quorum, port(elections[j]))
			}
		}
		folder := filepath.Join(dir, fmt.Sprint(i))
		need.Must(t, os.Mkdir(folder, 0o700))
		need.Must(t, os.WriteFile(filepath.Join(folder, "myid"), fmt.Append(nil, i+1), 0o600))
		programs[i] = Program{func(port string) *exec.Cmd {
			config := filepath.Join(folder, "zoo.cfg")
			_ = os.WriteFile(config, fmt.Appendf(nil, "tickTime=200\ninitLimit=50\nsyncLimit=25\nmaxSessionTimeout=60000\ndataDir=%s\nclientPort=%s\n"+
				"clientPortAddress=127.0.0.1\nadmin.enableServer=false\nmaxClientCnxns=0\n4lw.commands.whitelist=srvr\n%s", folder, port, &peers), 0o600) // without the file the server ends with an error
			class := "org.apache.zookeeper.server.quorum.QuorumPeerMain" // also for a single server
			return exec.Command("java", "-Xmx400m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto", "-cp", jars, class, config)
		}, nil, syscall.SIGKILL, serves}
	}
	return programs
}

// StartZooKeeper starts an ensemble on a new directory. Without ZooKeeper, it skips the test. detour is that of [ZooKeeperPrograms].
func StartZooKeeper(t testing.TB, members int, detour func(to string) string) []*Member {
	t.Helper()
	return startAll(t, ZooKeeperPrograms(t, t.TempDir(), members, detour))
}

func serves(address string) error {
	if ZooKeeperMode(address) == "" {
		return errors.New("it has no mode")
	}
	return nil
}

// ZooKeeperMode is leader, follower or standalone; it is empty while the server does not serve.
func ZooKeeperMode(address string) string {
	conn, err := net.DialTimeout("tcp", address, time.Second)
	if err != nil {
		return ""
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(time.Second)) // a server that is starting may not answer
	_, _ = io.WriteString(conn, "srvr")
	stats, _ := io.ReadAll(conn)
	_, mode, _ := strings.Cut(string(stats), "Mode: ")
	mode, _, _ = strings.Cut(mode, "\n")
	return mode
}
