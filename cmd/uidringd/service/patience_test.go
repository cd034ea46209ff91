package service

import (
	"context"
	"testing"
	"time"
)

// TestPatience shows that a context whose request is over has ended, for whoever kept it.
func TestPatience(t *testing.T) {
	p := &patience{Context: t.Context(), limit: time.Hour, places: &places{most: 1}}
	p.end()
	if p.Err() == nil {
		t.Error("the context has not ended")
	}
	p = &patience{Context: t.Context(), limit: time.Hour, places: &places{most: 1}}
	child, cancel := context.WithCancel(p)
	defer cancel()
	p.end()
	<-child.Done()
	if end, ok := p.Deadline(); !ok || time.Until(end) < time.Minute {
		t.Errorf("deadline is %v, %v", end, ok)
	}
}
