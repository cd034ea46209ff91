package database

import (
	"context"
	"log/slog"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/uidring/uidring/worker/lease"
)

// CompleteTag completes the tag of a counter.
func CompleteTag(stores Stores) cobra.CompletionFunc {
	return complete(func(ctx context.Context, cmd *cobra.Command) (tags []cobra.Completion) {
		open, err := CountersOf(cmd, stores, false, slog.New(slog.DiscardHandler))
		if err != nil {
			return nil
		}
		defer open.Close()
		counters, _ := open.Store.List(ctx)
		for _, c := range counters {
			tags = append(tags, c.Tag)
		}
		return tags
	})
}

// CompleteNumber completes a leased number that is not free.
func CompleteNumber(stores Stores) cobra.CompletionFunc {
	return complete(func(ctx context.Context, cmd *cobra.Command) (numbers []cobra.Completion) {
		_ = WithLeases(ctx, cmd, stores, func(open *Leases) error {
			leases, err := open.Leases(ctx, 0)
			for _, l := range leases {
				if l.State != lease.StateFree {
					numbers = append(numbers, strconv.FormatInt(l.Number, 10))
				}
			}
			return err
		})
		return numbers
	})
}

// complete offers words of the store for the only argument or a flag, if the store answers soon.
func complete(list func(context.Context, *cobra.Command) []cobra.Completion) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) (words []cobra.Completion, _ cobra.ShellCompDirective) {
		if len(args) == 0 {
			ctx, cancel := context.WithTimeout(cmd.Context(), 2*time.Second)
			defer cancel()
			cmd.SetContext(ctx)
			words = list(ctx, cmd)
		}
		return words, cobra.ShellCompDirectiveNoFileComp
	}
}
