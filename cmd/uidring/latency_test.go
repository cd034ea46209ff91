package main

import (
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// A Default that waits is seen to wait, and is not waited for.
func TestLatencyOfWait(t *testing.T) {
	a := allocator(t, "40/10/2,unit=1h")
	h, err := subjects[3].latency(t.Context(), a.Layout(), 2, 20*time.Millisecond)
	if err != nil || h.TotalCount() < 4 || h.TotalCount() > 16 || h.Max() < int64(10*time.Millisecond) || h.Max() > int64(10*time.Second) {
		t.Errorf("%d calls, the longest of %v, %v; want a tick's and two that wait", h.TotalCount(), time.Duration(h.Max()), err)
	}
}

func TestLatencyOfNothing(t *testing.T) {
	if l := latencyOf([]*hdrhistogram.Histogram{newHistogram()}); l != nil {
		t.Errorf("%+v without a call", l)
	}
}
