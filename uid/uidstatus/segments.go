package uidstatus

import (
	"errors"
	"net/url"

	"github.com/uidring/uidring/uid/segment"
)

// segmentOf is a segment in stats.json. The package comment explains every field.
type segmentOf struct {
	Name          string   `json:"name"`
	State         state    `json:"state"`
	Notes         []string `json:"notes"`
	Closed        bool     `json:"closed"`
	Store         string   `json:"store"`
	Tag           string   `json:"tag"`
	Issued        int64    `json:"issued"`
	Starved       int64    `json:"starved"`
	RejectedTakes int64    `json:"rejected_takes"`
	Waited        float64  `json:"waited_seconds"`
	Remaining     int64    `json:"remaining"`
	InUse         *rangeOf `json:"in_use"`
	Next          *rangeOf `json:"next"`
	Loading       float64  `json:"loading_seconds"`
	Step          int64    `json:"step"`
	Loads         int64    `json:"loads"`
	Failures      int64    `json:"failures"`
	LoadTime      float64  `json:"load_seconds"`
	Returned      int64    `json:"returned"`
	LastError     *string  `json:"last_error"`
}

// rangeOf is a range. Ids are strings, which JavaScript does not round.
type rangeOf struct {
	First int64 `json:"first,string"`
	End   int64 `json:"end,string"`
}

func newRange(r segment.Range) *rangeOf {
	if r == (segment.Range{}) {
		return nil
	}
	return &rangeOf{r.First, r.End}
}

func describeSegment(name string, s segment.Stats) segmentOf {
	state, notes := judgeSegment(s)
	return segmentOf{
		Name:          name,
		State:         state,
		Notes:         notes,
		Closed:        s.Closed,
		Store:         s.Store,
		Tag:           s.Tag,
		Issued:        s.Issued,
		Starved:       s.Starved,
		RejectedTakes: s.RejectedTakes,
		Waited:        s.Waited.Seconds(),
		Remaining:     s.Remaining,
		InUse:         newRange(s.InUse),
		Next:          newRange(s.Next),
		Loading:       s.Loading.Seconds(),
		Step:          s.Step,
		Loads:         s.Loads,
		Failures:      s.Failures,
		LoadTime:      s.LoadTime.Seconds(),
		Returned:      s.Returned,
		LastError:     text(s.LastError),
	}
}

// judgeSegment is judge for a segment.
func judgeSegment(s segment.Stats) (state, []string) {
	switch {
	case s.Closed:
		return failing, []string{"The generator is closed."}
	case s.LastError == nil:
		return fine, []string{}
	case s.Remaining == 0:
		return failing, []string{"All loaded ids are used, and no range can be loaded: " + s.LastError.Error()}
	case errors.Is(s.LastError, segment.ErrUsedUp):
		return warning, []string{"The counter is used up. Ids end when the loaded ids are used."}
	}
	return warning, []string{"No further range can be loaded. Ids end when the loaded ids are used: " + s.LastError.Error()}
}

func newSegmentSummary(name string, s segment.Stats) summary {
	sum := summary{Name: name, Place: "segment/" + name, Link: "?" + url.Values{"segment": {name}}.Encode(), Issued: s.Issued}
	sum.State, sum.Notes = judgeSegment(s)
	sum.Cells = []figure{
		{Key: "issued", Label: "Issued", Value: grouped(s.Issued)},
		{Key: "rejected", Label: "Calls that failed", Value: grouped(s.RejectedTakes)},
		{Key: "ready", Label: "Loaded", Value: compact(s.Remaining)},
		{Key: "next", Label: "Next range", Value: nextRange(s)},
		{Key: "step", Label: "Step", Value: compact(s.Step)},
		{Key: "loads", Label: "Loads", Value: grouped(s.Loads)},
	}
	return sum
}

func nextRange(s segment.Stats) string {
	switch {
	case s.Next != (segment.Range{}):
		return "ready"
	case s.Loading > 0:
		return "loading for " + duration(s.Loading)
	}
	return "not loaded"
}

// rangePicture is a range as a bar. Used is the share that is issued, in thousandths.
type rangePicture struct {
	Key, Label, Text string
	First, Last      string
	Used             int64
}

// newRangePictures returns the range in use and the next range.
func newRangePictures(s segment.Stats) []rangePicture {
	use := rangePicture{Key: "in-use", Label: "In use", Text: "not loaded", Used: 1000}
	next := rangePicture{Key: "next", Label: "Next", Text: nextRange(s), Used: 1000}
	following := s.Next.End - s.Next.First
	if in := s.InUse.End - s.InUse.First; in > 0 {
		left := max(0, min(in, s.Remaining-following))
		use.Used = part(float64(in-left), float64(in))
		use.Text = grouped(left) + " of " + grouped(in) + " ids are left"
		use.First, use.Last = grouped(s.InUse.First), grouped(s.InUse.End-1)
	}
	if following > 0 {
		next.Used = 0
		next.Text = grouped(following) + " ids are ready"
		next.First, next.Last = grouped(s.Next.First), grouped(s.Next.End-1)
	}
	return []rangePicture{use, next}
}

func newSegmentCard(name string, s segment.Stats, alone bool, names settings) *card {
	return &card{summary: newSegmentSummary(name, s), Alone: alone, Ranges: newRangePictures(s), Groups: []group{
		{Title: "Ids", Figures: []figure{
			{"issued", "Issued", grouped(s.Issued), ""},
			{"rejected", "Calls that failed", grouped(s.RejectedTakes), "Next or another call returned an error."},
			{"starved", "Calls that found no id", grouped(s.Starved), "They waited for a range or failed."},
			{"waited", "Time that calls waited", duration(s.Waited), "The waits of all calls added up."},
			{"returned", "Ids returned", grouped(s.Returned), "Close gave them back to the store."},
		}},
		{Title: "Ranges", Figures: []figure{
			{"step", "Ids of the last range", grouped(s.Step), "Ranges follow the rate" + names.mention(", so that each lasts %s", "Ahead") + "."},
			{"loads", "Loads", grouped(s.Loads), "Requests to the store."},
			{"failures", "Loads that failed", grouped(s.Failures), ""},
			{"took", "Time of the last load", duration(s.LoadTime), ""},
			{"loading", "Next range", nextRange(s), ""},
		}},
		{Title: "Counter", Class: "wide errors", Figures: []figure{
			{"tag", "Tag", s.Tag, ""},
			{"store", "Store", s.Store, ""},
		}},
		{Title: "Present error", Class: "wide errors", Figures: []figure{{Key: "error", Label: "Load", Value: sentence(s.LastError)}}},
	}}
}
