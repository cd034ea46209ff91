package serve

import (
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/uidring/uidring/cmd/internal/cli"
	"github.com/uidring/uidring/internal/test/need"
)

// health asks by TCP, TLS and sockets, and fails unless the answer is 200.
func TestHealth(t *testing.T) {
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		status, err := strconv.Atoi(strings.TrimPrefix(r.URL.Path, "/status/"))
		switch {
		case err == nil:
			w.WriteHeader(status)
		case r.URL.String() != "/readyz":
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		_, _ = w.Write([]byte(r.URL.String()))
	})
	plain, secure := httptest.NewServer(handler), httptest.NewTLSServer(handler)
	defer plain.Close()
	defer secure.Close()
	path := filepath.Join(t.TempDir(), "http.sock")
	socket, err := net.Listen("unix", path)
	need.Must(t, err)
	local := &http.Server{Handler: handler}
	go func() { _ = local.Serve(socket) }()
	defer local.Close()
	for _, tt := range []struct{ at, says, err string }{
		{plain.URL, "/readyz", ""}, {plain.URL + "/", "/readyz", ""}, {secure.URL, "/readyz", ""}, {"unix:" + path, "/readyz", ""},
		{plain.URL + "/readyz?generator=ids", "/readyz?generator=ids", "503"}, {plain.URL + "/healthz", "/healthz", "503"},
		{plain.URL + "/status/404", "/status/404", "404 Not Found"}, {plain.URL + "/status/401", "/status/401", "401 Unauthorized"},
		{plain.URL + "/status/202", "/status/202", "202 Accepted"}, {plain.URL + "/status/500", "/status/500", "500"},
		{"unix:" + path + "x", "", "no such file"}, {"http://127.0.0.1:1", "", "refused"},
		{"nonsense", "", "not the address of a server"}, {"ftp://host", "", "not the address of a server"}, {"http://", "", "not the address of a server"}, {"http://%", "", "not the address of a server"},
	} {
		var out strings.Builder
		err := health(t.Context(), tt.at, &out)
		usage := (*cli.UsageError)(nil)
		if out.String() != tt.says || (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) || errors.As(err, &usage) != (tt.err == "not the address of a server") {
			t.Errorf("%s: %q, %v; want %q, %q", tt.at, &out, err, tt.says, tt.err)
		}
	}
}
