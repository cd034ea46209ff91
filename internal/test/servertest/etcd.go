//go:build linux

package servertest

import (
	"fmt"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// EtcdPrograms are the members of a cluster with their data below dir. It skips the test
// where there is no etcd.
func EtcdPrograms(t testing.TB, dir string, members int, args ...string) []Program {
	t.Helper()
	program, peers := Find(t, "etcd"), Addresses(t, members)
	var cluster []string
	for i, peer := range peers {
		cluster = append(cluster, fmt.Sprintf("m%d=http://%s", i, peer))
	}
	programs := make([]Program, members)
	for i, peer := range peers {
		programs[i] = Program{func(port string) *exec.Cmd {
			client, own := "http://127.0.0.1:"+port, "http://"+peer
			return exec.Command(program,
				"--name", fmt.Sprintf("m%d", i), "--data-dir", filepath.Join(dir, fmt.Sprint(i)), "--initial-cluster", strings.Join(cluster, ","),
				"--listen-client-urls", client, "--advertise-client-urls", client,
				"--listen-peer-urls", own, "--initial-advertise-peer-urls", own)
		}, args, syscall.SIGKILL, healthy}
	}
	return programs
}

// StartEtcd starts a cluster on a new directory. It skips the test where there is no
// etcd.
func StartEtcd(t testing.TB, members int, args ...string) []*Member {
	t.Helper()
	return startAll(t, EtcdPrograms(t, t.TempDir(), members, args...))
}

// healthy returns nil if the member has a leader.
func healthy(address string) error { return Answers(address, "/health") }

// Answers returns nil if a server says OK of a path.
func Answers(address, path string) error {
	client := http.Client{Timeout: time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := client.Get("http://" + address + path)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answers %s", path, response.Status)
	}
	return nil
}
