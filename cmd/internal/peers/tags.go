package main

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/uidring/uidring/cmd/internal/bench"
	"github.com/uidring/uidring/uid/segment"
	"github.com/uidring/uidring/uid/segment/segmenttest"
)

// tagCounts are how many tags are in use in the table of tags. It lacks a placement: to open
// 10,000 tags takes longer than a sample.
var tagCounts = []int{1, 100, 10_000}

func tagsName(n int) string { return fmt.Sprintf("%d tags", n) }

// manyTags draws from tags in turn.
func manyTags(n int) bench.Subject {
	return bench.Subject{Name: tagsName(n), Open: func() (*bench.Instance, error) {
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
		return &bench.Instance{Close: func() error { return tags.Shutdown(ctx) }, Loop: func(calls int) (uint64, error) {
			at := rand.IntN(n)
			return bench.Repeat(calls, func() (uint64, error) {
				if at++; at == n {
					at = 0
				}
				id, err := tags.Next(ctx, names[at])
				return uint64(id), err
			})
		}}, nil
	}}
}
