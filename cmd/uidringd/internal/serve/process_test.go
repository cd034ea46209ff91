//go:build linux

package serve

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/spf13/cobra"

	"github.com/uidring/uidring/cmd/internal/cli"
	"github.com/uidring/uidring/cmd/internal/clitest"
	"github.com/uidring/uidring/internal/test/need"
)

// running is a server in a separate process.
type running struct {
	cmd        *exec.Cmd
	url, redis string // where it serves
}

func TestMain(m *testing.M) {
	clitest.Main(m, func() {
		root := new(cobra.Command)
		Add(root)
		cli.Main(root)
	})
}

// start starts a server in a folder, until the end of the test.
func start(t *testing.T, dir, config string) *running {
	t.Helper()
	here, err := os.Getwd()
	need.Must(t, err)
	path := filepath.Join(dir, "c.yaml")
	write(t, path, []byte(strings.ReplaceAll(config, "../", filepath.Dir(here)+"/")+"log: {requests_per_s: 0}\nshutdown: {delay: 0s, drain: 1ms}\n"))
	r := &running{cmd: clitest.Process(t, "--config", path, "--listen", "127.0.0.1:0", "--redis", "127.0.0.1:0")}
	r.cmd.Dir, r.cmd.Stderr = dir, t.Output()
	r.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} // the server ends with this process
	out, err := r.cmd.StdoutPipe()
	if err == nil {
		err = r.cmd.Start()
	}
	need.Must(t, err)
	t.Cleanup(func() {
		_ = r.cmd.Process.Kill()
		_ = r.cmd.Wait()
	})
	in := bufio.NewReader(out)
	_, err = fmt.Fscanf(in, "uidringd: serving at %s\nuidringd: serving the Redis protocol at %s", &r.url, &r.redis)
	need.Must(t, err)
	r.url, r.redis = strings.TrimSuffix(r.url, "/"), strings.TrimSuffix(r.redis, ":")
	return r
}
