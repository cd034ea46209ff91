package rpc_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/uidring/uidring/cmd/uidringd/internal/service"
	"github.com/uidring/uidring/internal/test/need"
)

// A client in JavaScript, on the gRPC library of Node, draws ids. npm fetches the
// library, of the version in testdata/node.
func TestNode(t *testing.T) {
	for _, program := range []string{"node", "npm"} {
		need.Program(t, program)
	}
	server := serve(t, service.Config{Tokens: []service.Token{{Name: "node", Hash: hash("node")}}})
	dir := t.TempDir()
	need.Must(t, os.CopyFS(dir, os.DirFS("testdata/node")))
	proto, err := filepath.Abs("../../proto/uidring/v1/uidring.proto")
	need.Must(t, err)
	run := func(args ...string) string {
		t.Helper()
		command := exec.CommandContext(t.Context(), args[0], args[1:]...)
		command.Dir = dir
		stderr := new(strings.Builder)
		command.Stderr = stderr
		out, err := command.Output()
		if err != nil {
			t.Fatalf("%q: %v\n%s%s", args, err, out, stderr)
		}
		return string(out)
	}
	run("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund")
	seen := map[string]bool{}
	for id := range strings.FieldsSeq(run("node", "client.js", server.Listener.Addr().String(), proto)) {
		if seen[id] {
			t.Fatalf("id %s twice", id)
		}
		seen[id] = true
	}
	if len(seen) != 20*100+1000 {
		t.Errorf("%d ids, want 3000", len(seen))
	}
}
