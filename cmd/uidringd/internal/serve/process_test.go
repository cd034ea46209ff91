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
	"go.uber.org/goleak"

	"github.com/uidring/uidring/internal/test/need"
)

// running is a server in a separate process.
type running struct {
	cmd        *exec.Cmd
	url, redis string // where it serves
}

// beServer has the test's binary serve the config that it names.
const beServer = "UIDRING_TEST_BE_SERVER"

func TestMain(m *testing.M) {
	if path := os.Getenv(beServer); path != "" {
		root := &cobra.Command{SilenceUsage: true}
		Add(root)
		root.SetArgs([]string{"--config", path, "--listen", "127.0.0.1:0", "--redis", "127.0.0.1:0"})
		if root.Execute() != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

// start starts a server in a folder, until the end of the test.
func start(t *testing.T, dir, config string) *running {
	t.Helper()
	here, err := os.Getwd()
	need.Must(t, err)
	path := filepath.Join(dir, "c.yaml")
	write(t, path, []byte(strings.ReplaceAll(config, "../", filepath.Dir(here)+"/")+"log: {requests_per_s: 0}\nshutdown: {delay: 0s, drain: 1ms}\n"))
	self, err := os.Executable()
	need.Must(t, err)
	r := &running{cmd: exec.CommandContext(t.Context(), self)}
	r.cmd.Dir, r.cmd.Env, r.cmd.Stderr = dir, append(os.Environ(), beServer+"="+path), t.Output()
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
