package segment

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/uidring/uidring/internal/deal"
	"github.com/uidring/uidring/uid"
)

func (t *Tags) keepIdleClosed() {
	ticker := time.NewTicker(max(t.config.Idle/4, 1))
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			idle := map[string]*entry{}
			t.each(func(tag string, e *entry) {
				if issued := e.Value.Stats().Issued; issued != e.issued {
					e.issued, e.since = issued, time.Now()
				} else if time.Since(e.since) >= t.config.Idle {
					idle[tag] = e
				}
			})
			if err := closeAll(idle, t.closeIdle); err != nil {
				t.journal.Add(func() {
					t.config.Logger.Warn("segment: idle tags were closed, but not all of their unused ids were returned", "error", err)
				})
			}
		case <-t.ctx.Done():
			return
		}
	}
}

// closeIdle closes a tag, unless Shutdown has begun, which closes all.
func (t *Tags) closeIdle(tag string, e *entry) error {
	if t.ctx.Err() != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(t.closing, uid.CloseTimeout)
	defer cancel()
	err := e.Value.Shutdown(ctx)
	t.remove(tag, e)
	return err
}

// atOnce is how many tags are closed at once. A pool of as many connections returns the
// ids of 3,000 tags to PostgreSQL within 2 seconds.
const atOnce = 16

// closeAll calls shut for each tag, atOnce at a time. It returns one error for all.
func closeAll(tags map[string]*entry, shut func(string, *entry) error) error {
	slots := make(chan struct{}, atOnce)
	var mu sync.Mutex
	e := &closeError{of: len(tags)}
	var running sync.WaitGroup
	for tag, entry := range tags {
		slots <- struct{}{}
		running.Go(func() {
			err := shut(tag, entry)
			<-slots
			if err != nil {
				mu.Lock()
				defer mu.Unlock()
				e.tags, e.faults = append(e.tags, tag), append(e.faults, err)
			}
		})
	}
	running.Wait()
	if len(e.faults) == 0 {
		return nil
	}
	return e
}

type closeError struct {
	of     int // tags that were to be closed
	tags   []string
	faults []error
}

// Error returns one line, with the first five tags and the first fault.
func (e *closeError) Error() string {
	return fmt.Sprintf("segment: unused ids of %d of %d tags were not returned, first %q: %s",
		len(e.tags), e.of, e.tags[:min(len(e.tags), 5)], strings.ReplaceAll(e.faults[0].Error(), "\n", "; "))
}

func (e *closeError) Unwrap() []error { return e.faults }

// Close is [Tags.Shutdown] with a timeout of [uid.CloseTimeout].
func (t *Tags) Close() error { return deal.Close(t.Shutdown) }

// Shutdown closes all tags, 16 at a time, and returns unused ids to the store. ctx bounds how long
// it waits for the store. The error gives the number of tags whose ids were not returned, and names
// the first five. Later calls for ids return [uid.ErrClosed].
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
	all := map[string]*entry{}
	t.each(func(tag string, e *entry) { all[tag] = e })
	err := closeAll(all, func(_ string, e *entry) error { return e.Value.Shutdown(ctx) })
	t.journal.Flush(ctx)
	return err
}
