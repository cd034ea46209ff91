//go:build linux

package deploy

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/uidring/uidring/cmd/internal/clitest"
	"github.com/uidring/uidring/internal/test/need"
)

// systemd accepts the unit, and finds little that the server could do to the system.
func TestUnit(t *testing.T) {
	need.Program(t, "systemd-analyze")
	// The program is not where the unit expects it.
	text := strings.ReplaceAll(read(t, "uidringd.service"), "/usr/local/bin/uidringd", server(t))
	for _, more := range []string{"", "php-fpm.conf"} { // "" is the unit without a drop-in
		t.Run(more, func(t *testing.T) {
			unit := filepath.Join(t.TempDir(), "uidringd.service")
			need.Must(t, os.WriteFile(unit, []byte(text), 0o644))
			if more != "" {
				need.Must(t, os.Mkdir(unit+".d", 0o755))
				need.Must(t, os.WriteFile(filepath.Join(unit+".d", more), []byte(read(t, more)), 0o644))
			}
			if out, err := exec.CommandContext(t.Context(), "systemd-analyze", "verify", unit).CombinedOutput(); err != nil || len(out) > 0 {
				t.Errorf("systemd-analyze verify: %v\n%s", err, out)
			}
			// 15 is an exposure of 1.5 on a scale to 10.
			if out, err := exec.CommandContext(t.Context(), "systemd-analyze", "security", "--no-pager", "--offline=yes", "--threshold=15", unit).CombinedOutput(); err != nil {
				t.Errorf("systemd-analyze security: %v\n%s", err, out)
			}
		})
	}
}

// The configs beside the unit are good, and read the credential that the unit loads.
func TestConfigOfUnit(t *testing.T) {
	const credential = "/run/credentials/uidringd.service/database"
	if got := find(t, "uidringd.service", `LoadCredential=(\w+):\S+`)[0]; got != filepath.Base(credential) {
		t.Errorf("the unit loads the credential %s, want database", got)
	}
	for _, name := range []string{"uidring.yaml", "uidring-agent.yaml"} {
		config := read(t, name)
		clitest.Wants(t, config, credential)
		ask(t, strings.ReplaceAll(config, credential, database(t)), "--check")
	}
	// The sockets are where the unit makes a folder, which its group may enter.
	folder := "/run/" + find(t, "php-fpm.conf", `RuntimeDirectory=(\w+)`)[0] + "/"
	if config := read(t, "uidring-agent.yaml"); strings.Count(config, "unix:"+folder) != 2 || !strings.Contains(config, `socket_mode: "0660"`) {
		t.Errorf("the sockets are not in %s: %s", folder, config)
	}
}

// database returns a file that holds a database's URL.
func database(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "database")
	need.Must(t, os.WriteFile(file, []byte("postgres://uidring:secret@db/uidring\n"), 0o600))
	return file
}
