package service

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/uid/segment"
	"github.com/uidring/uidring/worker/lease"
)

// TestErrors shows what becomes of the errors of catalogs and generators: what callers
// see holds no driver's text, and the log has all of it.
func TestErrors(t *testing.T) {
	const secret = "postgres://app:hunter2@db"
	for _, test := range []struct {
		err    error
		kind   Kind
		logged bool
		says   string
	}{
		{fmt.Errorf("%w: %q", ErrUnknown, "a"), Unknown, false, "there is no generator"},
		{fmt.Errorf("%w: %s: %w", ErrNotStarted, secret, uid.ErrTimeExhausted), Unavailable, true, "has not started: its layout has run out of time"},
		{fmt.Errorf("%s: %w", secret, uid.ErrTimeExhausted), Exhausted, true, "has no ids left"},
		{fmt.Errorf("%s: %w", secret, segment.ErrUsedUp), Exhausted, true, "has no ids left"},
		{fmt.Errorf("%s: %w", secret, uid.ErrRewound), Exhausted, true, "has gone back"},
		{fmt.Errorf("%s: %w", secret, segment.ErrTooManyTags), Unavailable, true, "no more can be opened"},
		{fmt.Errorf("%s: %w", secret, uid.ErrClosed), Unavailable, true, "the server is stopping"},
		{fmt.Errorf("%s: %w", secret, context.Canceled), Unavailable, true, "cannot issue ids now"},
		{&segment.LoadError{Tag: "a", Store: secret, Err: errors.New("refused")}, Unavailable, true, "cannot issue ids now"},
		{errors.New(secret), Unavailable, true, "cannot issue ids now"},
	} {
		for _, c := range []*one{{err: test.err}, {entry: entry(func(context.Context, int64) (uid.Run, error) { return uid.Run{}, test.err })}} {
			var log bytes.Buffer
			s := newService(t, c, Config{Logger: slog.New(slog.NewTextHandler(&log, nil))})
			_, err := s.Draw(t.Context(), Caller{}, "a", 1)
			e := (*Error)(nil)
			if !errors.As(err, &e) || e.Kind != test.kind || strings.Contains(e.Detail, "hunter2") || !strings.Contains(e.Detail, test.says) {
				t.Errorf("%v becomes %v", test.err, err)
			}
			retry := time.Duration(0)
			switch {
			case errors.Is(test.err, ErrNotStarted):
				retry = startRetry
			case e.Kind == Unavailable:
				retry = time.Second
			}
			if e.Retry != retry {
				t.Errorf("%v: Retry is %v, want %v", test.err, e.Retry, retry)
			}
			if (e.Cause != nil) != (e.Kind == Exhausted || e.Kind == Unavailable) {
				t.Errorf("%v: the cause is %v", test.err, e.Cause)
			}
			if logged := strings.Contains(log.String(), "hunter2"); logged != test.logged {
				t.Errorf("%v: log is %q", test.err, log.String())
			}
		}
	}
}

// TestLogSeldom shows that failures at any rate are logged once a second.
func TestLogSeldom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		s := newService(t, &one{err: errors.New("unavailable")}, Config{Logger: slog.New(slog.NewTextHandler(&log, nil))})
		for range 1000 {
			s.Draw(t.Context(), Caller{}, "a", 1)
			time.Sleep(10 * time.Millisecond)
		}
		if lines := strings.Count(log.String(), "\n"); lines < 9 || lines > 11 {
			t.Errorf("%d lines in 10 s", lines)
		}
	})
}

// TestReason has each cause behind the text of a driver, and an error of the network.
func TestReason(t *testing.T) {
	unwalked := Reasons()
	for err, want := range map[error]string{
		ErrStarting:           "it is still starting",
		uid.ErrClosed:         "it is closed",
		uid.ErrTimeExhausted:  "its layout has run out of time",
		uid.ErrBorrowLimit:    "its ids are max_borrow ahead of the clock",
		uid.ErrReservation:    "no time is reserved under its worker number",
		uid.ErrClockBackward:  "the clock has moved backward",
		uid.ErrConfig:         "its settings are invalid; see the log",
		lease.ErrHeld:         "another process holds its worker number",
		lease.ErrExhausted:    "no worker number is left",
		lease.ErrSkew:         "the clock differs too much from its store's",
		segment.ErrUsedUp:     "its counter is used up",
		uid.ErrRewound:        "its store has gone back in time",
		segment.ErrUnknownTag: "its store has no such counter",
		segment.ErrUnusable:   "its counter cannot be used; see the log",
		uid.ErrUnavailable:    "its store is unavailable",
		&net.OpError{Op: "dial", Err: errors.New("refused")}: "its store is unavailable",
		errors.New("x"): "it cannot issue ids; see the log",
	} {
		if got := Reason(fmt.Errorf("at db: %w", err)); got != want {
			t.Errorf("%v: %q, want %q", err, got, want)
		}
		unwalked = slices.DeleteFunc(unwalked, func(text string) bool { return text == want })
		if !slices.Contains(Reasons(), want) {
			t.Errorf("Reasons() lacks %q", want)
		}
	}
	if len(unwalked) > 0 {
		t.Errorf("no error has the reasons %q", unwalked)
	}
}

// The cause that ends a request's context decides whose end it is, and only a server's end is worth
// another attempt. The log has nothing about either.
func TestEnded(t *testing.T) {
	for cause, want := range map[error]Kind{context.Canceled: Cancelled, errors.New("reset"): Cancelled, context.DeadlineExceeded: Expired, ErrStopping: Unavailable} {
		var log bytes.Buffer
		s := newService(t, &one{entry: entry(hanging)}, Config{Logger: slog.New(slog.NewTextHandler(&log, nil))})
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(cause)
		_, err := s.Draw(ctx, Caller{}, "a", 1)
		e := (*Error)(nil)
		if !errors.As(err, &e) || e.Kind != want || (e.Retry > 0) != (cause == ErrStopping) || log.Len() > 0 {
			t.Errorf("%v: %+v, want kind %s; the log is %q", cause, e, want, &log)
		}
	}
}
