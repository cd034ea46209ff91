package worker

import "time"

// WithNow replaces a Registry's local clock.
func WithNow(now func() time.Time) Option {
	return registryOption(func(r *Registry) { r.now = now })
}
