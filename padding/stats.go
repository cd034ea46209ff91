package padding

import "time"

// Stats holds the counts and state of an executor.
type Stats struct {
	Refills      int64         // refills, by Fill or the executor, that put at least one run
	Helps        int64         // runs that takers put because the ring was empty
	RejectedPuts int64         // runs passed to Config.RejectedPut
	Making       time.Duration // how long the current call to a blocking source has taken; 0 if none
	LastError    error         // why the ring could not be filled; nil once it is full
}

// Stats returns the executor's counts and state. It never waits for the source.
func (e *Executor) Stats() Stats {
	s := Stats{
		Refills:      e.refills.Load(),
		Helps:        e.helps.Load(),
		RejectedPuts: e.rejected.Load(),
		LastError:    e.lastError(),
	}
	if began := e.callBegan.Load(); began != nil {
		s.Making = time.Since(*began)
	}
	return s
}

func (e *Executor) lastError() error { return *e.failure.Load() }

// note keeps an error, or nil when the ring is full, for Stats, and logs when the error
// changes: a source that fails with one error until then causes one line in the log.
func (e *Executor) note(err error) {
	if err == nil && e.lastError() == nil {
		return
	}
	before := *e.failure.Swap(&err)
	failed := func(err error) bool {
		_, delay := RetryAfter(err)
		return err != nil && !delay
	}
	switch {
	case failed(err) && (before == nil || before.Error() != err.Error()):
		e.config.Logger.Warn("padding: cannot fill the ring", "error", err)
	case err == nil && failed(before):
		e.config.Logger.Info("padding: filling the ring again")
	}
}
