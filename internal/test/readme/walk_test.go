//go:build linux

package readme

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/uidring/uidring/internal/test/dbtest"
	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/internal/test/servertest"
)

// TestWalk follows pages word by word, each in an empty folder and with a database that was just made. Only
// addresses are others. The commands run on the empty machine that .ci/steps/release has made in the folder
// UIDRING_TEST_MACHINE.
func TestWalk(t *testing.T) {
	machine := os.Getenv("UIDRING_TEST_MACHINE")
	if machine == "" {
		t.Skip("runs on an empty machine: .ci/run release")
	}
	t.Run("guide", func(t *testing.T) {
		server := servertest.MariaDB(t, t.TempDir()).Start(t, dbtest.Answers)
		_, port, _ := strings.Cut(server.Address, ":")
		changes := []string{"127.0.0.1:3306", server.Address, "3306", port}
		for i, address := range servertest.Addresses(t, 3) {
			changes = append(changes, fmt.Sprintf("127.0.0.1:%d", 8080+i), address)
		}
		if outputs := walk(t, machine, "docs/guide.md", changes...); outputs < 3 {
			t.Errorf("the page shows %d outputs", outputs)
		}
	})
	t.Run("server", func(t *testing.T) {
		server := servertest.Postgres(t, t.TempDir()).Start(t, dbtest.Answers)
		address := servertest.Addresses(t, 1)[0]
		walk(t, machine, "docs/server.md", "postgres://uidring:secret@127.0.0.1/uidring", server.URL(server.Address),
			"127.0.0.1:8080", address, "uidringd &\n", "uidringd --listen "+address+" &\n")
	})
}

// walk runs the commands of a page in one bash, in their order, in an empty folder. It writes the files that
// the page tells the reader to save, where they stand. Text after commands is what they have to print, where …
// is anything. It returns how many such texts there are.
func walk(t *testing.T, machine, page string, changes ...string) int {
	t.Helper()
	folder := "/tmp/" + filepath.Base(page) // as the machine sees it
	outputs := filepath.Join(machine, "root", folder)
	need.Must(t, os.Mkdir(outputs, 0o700))
	var script strings.Builder
	script.WriteString("mkdir " + folder + "/page\ncd " + folder + "/page\nset -eu -o pipefail\ntrap 'kill $(jobs -p) 2>/dev/null || true' EXIT\ncurl() { command curl -fS \"$@\"; }\n")
	wants := map[string]string{}
	output := ""
	block := regexp.MustCompile("(?ms)(?:`([\\w.]+)`:\n\n)?^```(\\w*)\n(.*?)^```$")
	for i, found := range block.FindAllStringSubmatch(read(t, page), -1) {
		name, kind, text := found[1], found[2], strings.NewReplacer(changes...).Replace(found[3])
		switch {
		case name != "":
			fmt.Fprintf(&script, "cat >%s <<'END OF FILE'\n%sEND OF FILE\n", name, text)
		case kind == "sh":
			output = fmt.Sprint(i)
			fmt.Fprintf(&script, "{\n%s} >%s/%s\n", text, folder, output)
		case kind == "text" && output != "":
			wants[output] = text
		default:
			t.Fatalf("%s: nobody knows what to do with this block:\n%s", page, text)
		}
	}
	cmd := exec.CommandContext(t.Context(), filepath.Join(machine, "enter"), "bash", "-xc", script.String())
	cmd.WaitDelay = 10 * time.Second
	log, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", page, err, log)
	}
	for output, want := range wants {
		got, err := os.ReadFile(filepath.Join(outputs, output))
		need.Must(t, err)
		if !regexp.MustCompile("^" + strings.ReplaceAll(regexp.QuoteMeta(want), "…", ".*") + "$").Match(got) {
			t.Errorf("%s: a command printed %q, want %q\n%s", page, got, want, log)
		}
	}
	return len(wants)
}
