package segment

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/uidring/uidring/uid"
)

// keepIdleClosed closes the generators that nobody uses.
func (t *Tags) keepIdleClosed() {
	ticker := time.NewTicker(max(t.config.Idle/4, 1))
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			var unused []func()
			t.each(func(tag string, e *entry) {
				if issued := e.gen.Stats().Issued; issued != e.issued {
					e.issued, e.since = issued, time.Now()
				} else if time.Since(e.since) >= t.config.Idle {
					unused = append(unused, func() { t.closeIdle(tag, e) })
				}
			})
			some(unused)
		case <-t.ctx.Done():
			return
		}
	}
}

// closeIdle closes a tag, unless Shutdown has begun, which closes all.
func (t *Tags) closeIdle(tag string, e *entry) {
	if t.ctx.Err() != nil {
		return
	}
	ctx, cancel := context.WithTimeout(t.closing, uid.CloseTimeout)
	defer cancel()
	err := e.gen.Shutdown(ctx)
	t.remove(tag, e)
	if err != nil {
		t.journal.Add(func() { t.config.Logger.Warn("segment: an idle tag's ids are not returned", "error", err) })
	}
}

// atOnce is how many tags are closed at once.
const atOnce = 16

// some calls all functions, at most atOnce at a time.
func some(functions []func()) {
	slots := make(chan struct{}, atOnce)
	var running sync.WaitGroup
	for _, f := range functions {
		slots <- struct{}{}
		running.Go(func() {
			f()
			<-slots
		})
	}
	running.Wait()
}

// Close is [Tags.Shutdown] with a deadline of [uid.CloseTimeout].
func (t *Tags) Close() error { return closeWith(t.Shutdown) }

// Shutdown closes all tags and returns unused ids to the store, within ctx.
// Afterwards calls return [uid.ErrClosed].
func (t *Tags) Shutdown(ctx context.Context) error {
	t.mu.Lock()
	t.cancel() // with mu held, so that no tag is added afterwards
	t.mu.Unlock()
	defer context.AfterFunc(ctx, t.giveUp)()
	opened := make(chan struct{})
	go func() { t.running.Wait(); close(opened) }()
	select {
	case <-opened:
	case <-ctx.Done():
	}
	var all []func()
	var mu sync.Mutex
	var faults []error
	t.each(func(_ string, e *entry) {
		all = append(all, func() {
			err := e.gen.Shutdown(ctx)
			mu.Lock()
			defer mu.Unlock()
			faults = append(faults, err)
		})
	})
	some(all)
	t.journal.Flush(ctx)
	return errors.Join(faults...)
}
