package workerzk

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/uidring/uidring/internal/leaserow"
	"github.com/uidring/uidring/worker/lease"
)

// row gets the node of a number, nil if there is none, and what the node says.
func (s *Store) row(ctx context.Context, number int64) (n *node, r leaserow.Row, err error) {
	path := s.number(number)
	if n, err = s.client.get(ctx, path); n != nil && err == nil {
		r, err = parse(path, n)
	}
	return n, r, err
}

func parse(path string, n *node) (leaserow.Row, error) {
	r, err := leaserow.Parse(n.data)
	if err != nil {
		err = fmt.Errorf("workerzk: node %s: %w", path, err)
	}
	return r, err
}

// shown is the row as package lease reads it. The ephemeral child says that the holder is
// alive.
func shown(number int64, r leaserow.Row, n *node) *lease.Row {
	row := r.Lease(number, n.stat.NumChildren > 0)
	row.Created = n.stat.Ctime
	return &row
}

func (s *Store) numbers() string            { return s.path + "/number" }
func (s *Store) counts() string             { return s.path + "/given" }
func (s *Store) number(number int64) string { return s.numbers() + "/" + leaserow.Digits(number) }
func (s *Store) alive(number int64) string  { return s.number(number) + "/alive" }
func (s *Store) given(from int64) string    { return s.counts() + "/" + leaserow.Digits(from) }

func parseNumber(path, text string) (int64, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("workerzk: node %s: %q, want a number", path, text)
	}
	return n, nil
}

// Read implements lease.Store. ZooKeeper shows no clock.
func (s *Store) Read(ctx context.Context, number int64, _ time.Duration) (*lease.Row, int64, error) {
	if err := s.client.fence(ctx, s.path); err != nil {
		return nil, 0, err
	}
	n, r, err := s.row(ctx, number)
	if n == nil || err != nil {
		return nil, 0, err
	}
	return shown(number, r, n), 0, nil
}

// List implements lease.Store.
func (s *Store) List(ctx context.Context, limit int, _ time.Duration) ([]lease.Row, error) {
	if err := s.client.fence(ctx, s.path); err != nil {
		return nil, err
	}
	return s.rows(ctx, lease.Bounds{To: 1<<63 - 1}, limit)
}

// Look implements lease.Store.
func (s *Store) Look(ctx context.Context, within lease.Bounds, _ time.Duration) (lease.View, error) {
	if err := s.client.fence(ctx, s.path); err != nil {
		return lease.View{}, err
	}
	rows, err := s.rows(ctx, within, 0)
	if err != nil {
		return lease.View{}, err
	}
	names, err := s.client.names(ctx, s.counts())
	if err != nil {
		return lease.View{}, err
	}
	given := map[int64]int64{}
	err = s.each(ctx, s.counts(), names, func(from int64, path string, n *node) (err error) {
		given[from], err = parseNumber(path, string(n.data))
		return err
	})
	return lease.NewView(0, rows, given, within), err
}

// rows returns the rows within bounds, highest first, at most limit of them; a limit
// below 1 is no limit.
func (s *Store) rows(ctx context.Context, within lease.Bounds, limit int) (rows []lease.Row, err error) {
	names, err := s.client.names(ctx, s.numbers())
	if err != nil {
		return nil, err
	}
	slices.Sort(names)
	slices.Reverse(names)
	names = slices.DeleteFunc(names, func(n string) bool { return n > leaserow.Digits(within.To) || n < leaserow.Digits(within.From) })
	if limit > 0 {
		names = names[:min(limit, len(names))]
	}
	err = s.each(ctx, s.numbers(), names, func(number int64, path string, n *node) error {
		r, err := parse(path, n)
		rows = append(rows, *shown(number, r, n))
		return err
	})
	return rows, err
}

// each gets children of a node, whose names are numbers, and calls a function with each
// that is not gone.
func (s *Store) each(ctx context.Context, parent string, names []string, call func(number int64, path string, n *node) error) error {
	nodes, err := s.client.all(ctx, parent, names)
	if err != nil {
		return err
	}
	for i, n := range nodes {
		if n == nil {
			continue
		}
		path := parent + "/" + names[i]
		number, err := parseNumber(path, names[i])
		if err == nil {
			err = call(number, path, n)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
