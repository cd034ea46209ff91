package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/uidring/uidring/cmd/internal/measure"
	"github.com/uidring/uidring/uid/segment"
	"github.com/uidring/uidring/uid/segment/segmenttest"
)

// tagCounts are how many tags are in use in the table of tags.
var tagCounts = []int{1, 100, 10_000}

func tagsName(n int) string { return fmt.Sprintf("%d tags", n) }

// manyTags draws from tags in turn.
func manyTags(n int) measure.Subject {
	return measure.Subject{Name: tagsName(n), Open: func() (*measure.Instance, error) {
		tags, err := segment.NewTags(new(segmenttest.Memory), segment.TagsConfig{
			Config: segment.Config{Create: true, Logger: silent}, MaxTags: n,
		})
		if err != nil {
			return nil, err
		}
		ctx := context.Background()
		names := make([]string, n)
		for i := range names {
			names[i] = fmt.Sprintf("tenant-%d", i)
			if _, err := tags.Next(ctx, names[i]); err != nil {
				return nil, err
			}
		}
		return &measure.Instance{Close: func() error { return tags.Shutdown(ctx) }, Loop: func(calls int) (uint64, error) {
			at := rand.IntN(n)
			return measure.Repeat(calls, func() (uint64, error) {
				if at++; at == n {
					at = 0
				}
				id, err := tags.Next(ctx, names[at])
				return uint64(id), err
			})
		}}, nil
	}}
}

func (r *results) tagTable() string {
	head := []string{">tags"}
	for _, s := range r.apart() {
		head = append(head, ">ns/id, "+s.String())
	}
	rows := [][]string{head}
	for _, n := range tagCounts {
		line := []string{number(n)}
		for _, s := range r.apart() {
			line = append(line, bold(r.cell(tagsName(n), s).NsPerID))
		}
		rows = append(rows, line)
	}
	return table(rows...)
}

// apart returns the settings of the table of tags: a core for each thread. To open 10,000 tags takes longer than a sample.
func (r *results) apart() []setting {
	return slices.DeleteFunc(slices.Clone(r.settings), func(s setting) bool { return s.Placement != measure.Apart })
}
