//go:build linux

package deploy

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// systemd accepts the unit, and finds little that the server could do to the system.
func TestUnit(t *testing.T) {
	if _, err := exec.LookPath("systemd-analyze"); err != nil {
		t.Skip(err)
	}
	// The program is not where the unit expects it.
	text := strings.ReplaceAll(read(t, "uidringd.service"), "/usr/local/bin/uidringd", server(t))
	unit := filepath.Join(t.TempDir(), "uidringd.service")
	if err := os.WriteFile(unit, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), "systemd-analyze", "verify", unit).CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("systemd-analyze verify: %v\n%s", err, out)
	}
	// 15 is an exposure of 1.5 on a scale to 10.
	if out, err := exec.CommandContext(t.Context(), "systemd-analyze", "security", "--no-pager", "--offline=yes", "--threshold=15", unit).CombinedOutput(); err != nil {
		t.Errorf("systemd-analyze security: %v\n%s", err, out)
	}
}

// The config beside the unit is good, and reads the credential that the unit loads.
func TestConfigOfUnit(t *testing.T) {
	const credential = "/run/credentials/uidringd.service/database"
	if got := find(t, "uidringd.service", `LoadCredential=(\w+):\S+`)[0]; got != filepath.Base(credential) {
		t.Errorf("the unit loads the credential %s, want database", got)
	}
	config := read(t, "uidring.yaml")
	if !strings.Contains(config, credential) {
		t.Errorf("the config does not read %s", credential)
	}
	ask(t, strings.ReplaceAll(config, credential, database(t)), "--check")
}

// database returns a file that holds a database's URL.
func database(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "database")
	if err := os.WriteFile(file, []byte("postgres://uidring:secret@db/uidring\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}
