package worker

import "time"

// SetNow replaces a Registry's local clock.
func (r *Registry) SetNow(now func() time.Time) { r.now = now }
