package gen

import (
	"cmp"
	"fmt"
	"log/slog"
	"math"
	"time"

	"github.com/spf13/cobra"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/cmd/internal/cli"
	"github.com/uidring/uidring/cmd/internal/database"
	"github.com/uidring/uidring/cmd/internal/format"
	"github.com/uidring/uidring/cmd/internal/source"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/uid/segment"
)

type flags struct {
	count     int64
	generator string
	segment   string // the tag of a counter, in place of a worker number
	worker    source.Source
	stores    database.Stores
	layout    bits.Layout
	boost     int64
	padding   int64
	maxBorrow time.Duration
	maxAge    time.Duration
	json      bool
	text      format.TextFlags
}

// cachedOnly are the flags that the default generator has no use for.
var cachedOnly = []string{"boost-power", "padding-factor", "max-borrow", "max-age"}

// clockedOnly are the flags that a segment has no use for.
var clockedOnly = append([]string{"generator", "worker", "layout", "json"}, cachedOnly...)

func (f *flags) add(cmd *cobra.Command) {
	set := cmd.Flags()
	set.VarP(cli.Number{Value: &f.count, Max: math.MaxInt64}, "count", "n", "number of ids; 0 takes no worker number")
	set.Var(cli.Choice{Value: &f.generator, Words: []string{cachedName, defaultName}}, "generator", "cached or default")
	set.Func("worker", "`source` of the worker number: lease, registry or static:N (default lease)", func(text string) (err error) {
		f.worker, err = source.Parse(text, source.Lease, source.Registry)
		return err
	})
	set.StringVar(&f.segment, "segment", "", "draw ids from the counter with this `tag`")
	database.TableFlag(cmd)
	cli.LayoutFlag(cmd, &f.layout, "layout of the ids", "the one that the database remembers; in a new one or without one\nfleet, or registry for --worker registry")
	set.Var(cli.Number{Value: &f.boost, Min: 1, Max: uid.MaxBoostPower}, "boost-power", fmt.Sprintf("size of the cached generator's ring: the ids of 2^N ticks; 1 to %d (default %d, or less for long ticks)", uid.MaxBoostPower, uid.DefaultBoostPower))
	set.Var(cli.Number{Value: &f.padding, Min: 1, Max: 99}, "padding-factor", "refill the ring below this level, in percent; 1 to 99")
	set.DurationVar(&f.maxBorrow, "max-borrow", uid.DefaultMaxBorrow, "stamp ids at most this far ahead of the clock; negative means no limit")
	set.DurationVar(&f.maxAge, "max-age", uid.DefaultMaxAge, "drop ids that are older than this; negative means no limit")
	set.BoolVar(&f.json, "json", false, "print one JSON object per line: id (a string, for JavaScript), time, worker, sequence, layout")
	f.text.Add(cmd)
	database.Flag(cmd, f.stores)
	cmd.MarkFlagsMutuallyExclusive("json", "form")
	cli.Complete(cmd, "generator", cachedName, defaultName)
	_ = cmd.RegisterFlagCompletionFunc("segment", database.CompleteTag(f.stores))
	cli.Complete(cmd, "worker", source.Lease, source.Registry, source.Static+":")
}

func (f *flags) check(cmd *cobra.Command) error {
	counts := cmd.Flags().Changed("segment")
	for _, name := range clockedOnly {
		if counts && cmd.Flags().Changed(name) {
			return cli.Usagef("--%s is not for --segment, whose ids have neither time nor worker", name)
		}
	}
	if counts {
		if err := segment.CheckTag(f.segment); err != nil {
			return &cli.UsageError{Err: err}
		}
	} else if cmd.Flags().Changed("table") {
		return cli.Usagef("--table is for --segment TAG")
	}
	for _, name := range cachedOnly {
		if f.generator == defaultName && cmd.Flags().Changed(name) {
			return cli.Usagef("--%s is for --generator %s", name, cachedName)
		}
	}
	if f.maxAge >= 0 && f.maxAge < uid.MinMaxAge {
		return cli.Usagef("--max-age is %v, want %v or more, or a negative one to keep ids forever", f.maxAge, uid.MinMaxAge)
	}
	f.maxBorrow, f.maxAge = max(f.maxBorrow, uid.Unlimited), max(f.maxAge, uid.Unlimited)
	return f.checkDSN(cmd, counts)
}

// checkDSN finds a DSN that is not for the flags.
func (f *flags) checkDSN(cmd *cobra.Command, counts bool) error {
	if f.worker.Kind == source.Static {
		if f.layout != (bits.Layout{}) && cmd.Flags().Changed("dsn") {
			return cli.Usagef("--worker %s with --layout needs no database: leave out --dsn", f.worker)
		}
		return nil
	}
	dsn := database.Of(cmd, f.stores)
	if counts || dsn.SQL() {
		return nil
	}
	if f.worker.Kind != source.Lease {
		return cli.Usagef("--worker %s: %s names a store of leased numbers only; want --worker %s, or the DSN of an SQL database", f.worker, dsn.Origin, source.Lease)
	}
	return dsn.Check()
}

func (f *flags) config(logger *slog.Logger) uid.CachedConfig {
	return uid.CachedConfig{
		Layout:        f.layout,
		BoostPower:    int(f.boost),
		PaddingFactor: int(f.padding),
		MaxBorrow:     cmp.Or(f.maxBorrow, uid.None), // 0 is the default in the library
		MaxAge:        f.maxAge,
		Logger:        logger,
	}
}
