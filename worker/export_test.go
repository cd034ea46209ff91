package worker

import (
	"context"
	"time"

	"github.com/uidring/uidring/internal/lease"
)

// WithNow replaces the local clock.
func WithNow(now func() time.Time) Option { return func(s *settings) { s.now = now } }

// Store returns what carries a holder's requests to the table.
func (l *Leaser) Store(limit int64) (func(context.Context, lease.Request) lease.Answer, error) {
	s, err := l.store(Node{"billing-7", "8080", Actual}, limit, time.Now)
	if err != nil {
		return nil, err
	}
	return s.do, nil
}
