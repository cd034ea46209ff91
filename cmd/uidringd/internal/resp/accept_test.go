package resp_test

import (
	"errors"
	"net"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/uidring/uidring/cmd/uidringd/internal/resp"
	"github.com/uidring/uidring/internal/test/logged"
	"github.com/uidring/uidring/internal/test/need"
)

// stumbling is a listener that accepts a connection where its script has a dot, and fails elsewhere
// and ever after.
type stumbling struct {
	net.Listener
	script string
	at     []time.Time // of each call
}

func (l *stumbling) Accept() (net.Conn, error) {
	l.at = append(l.at, time.Now())
	if n := len(l.at); n > len(l.script) || l.script[n-1] != '.' {
		return nil, errors.New("no file is left")
	}
	ours, theirs := net.Pipe()
	return theirs, ours.Close()
}

// The pause after an error doubles up to a second, begins anew after a connection, and ends with the
// server. The log says why.
func TestAcceptPauses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &stumbling{script: "eeeeeeeeeee.ee.e"}
		var log logged.Text
		s := resp.New(resp.Config{Host: new(host), Logger: log.Logger(), Idle: time.Hour})
		ended := make(chan error, 1)
		go func() { ended <- s.Serve(l) }()
		time.Sleep(10*time.Second + time.Millisecond) // into a pause
		need.Must(t, s.Shutdown(t.Context()))
		began := time.Now()
		if err := <-ended; err == nil || !time.Now().Equal(began) {
			t.Errorf("Serve() = %v, %v after Shutdown", err, time.Since(began))
		}
		if n := log.Count("cannot accept connections", "no file is left"); n != len(l.at)-strings.Count(l.script, ".") {
			t.Errorf("%d lines about %d calls: %s", n, len(l.at), &log)
		}
		var pauses []time.Duration
		for i := range len(l.script) {
			pauses = append(pauses, l.at[i+1].Sub(l.at[i])/time.Millisecond)
		}
		if want := []time.Duration{5, 10, 20, 40, 80, 160, 320, 640, 1000, 1000, 1000, 0, 5, 10, 0, 5}; !slices.Equal(pauses, want) {
			t.Errorf("the pauses are %d ms, want %d", pauses, want)
		}
	})
}
