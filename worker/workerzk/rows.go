package workerzk

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/uidring/uidring/internal/leaserow"
	"github.com/uidring/uidring/worker/lease/leasestore"
)

// row gets the node of a number, nil if there is none, and what the node says.
func (s *store) row(ctx context.Context, number int64) (n *node, r leaserow.Row, err error) {
	path := s.number(number)
	if n, err = s.get(ctx, path); n == nil || err != nil {
		return nil, r, err
	}
	if r, err = leaserow.Parse(n.data); err != nil {
		return nil, r, foreign(path, err)
	}
	return n, r, nil
}

func foreign(path string, err error) error { return fmt.Errorf("workerzk: node %s: %w", path, err) }

// shown is the row as package lease reads it.
func shown(number int64, r leaserow.Row, n *node) leasestore.Row {
	row := r.Lease(number, n.stat.NumChildren > 0)
	row.Created = n.stat.Ctime
	return row
}

func (s *store) numbers() string            { return s.path + "/number" }
func (s *store) counts() string             { return s.path + "/given" }
func (s *store) number(number int64) string { return s.numbers() + "/" + leaserow.Digits(number) }
func (s *store) alive(number int64) string  { return s.number(number) + "/alive" }
func (s *store) given(from int64) string    { return s.counts() + "/" + leaserow.Digits(from) }
func (s *store) waiting(in leasestore.Range) string {
	return s.path + "/waiting/" + leaserow.Digits(in.From) + "-" + leaserow.Digits(in.To)
}

func (s *store) Read(ctx context.Context, number int64, _ time.Duration) (*leasestore.Row, int64, error) {
	if err := s.fence(ctx, s.path); err != nil {
		return nil, 0, err
	}
	n, r, err := s.row(ctx, number)
	if n == nil || err != nil {
		return nil, 0, err
	}
	row := shown(number, r, n)
	return &row, 0, nil
}

func (s *store) List(ctx context.Context, limit int, _ time.Duration) ([]leasestore.Row, error) {
	if err := s.fence(ctx, s.path); err != nil {
		return nil, err
	}
	return s.rows(ctx, leasestore.Range{To: 1<<63 - 1}, limit)
}

func (s *store) Look(ctx context.Context, within leasestore.Range, full bool, _ time.Duration) (leasestore.View, error) {
	if err := s.fence(ctx, s.path); err != nil {
		return leasestore.View{}, err
	}
	given, _, err := s.allGiven(ctx)
	if err != nil {
		return leasestore.View{}, err
	}
	if full {
		rows, err := s.rows(ctx, within, 0)
		return leasestore.NewView(0, rows, given, within), err
	}
	return leaserow.Sample(0, within, given, func(numbers []int64) (int64, []leasestore.Row, error) {
		var names []string
		for _, number := range numbers {
			names = append(names, leaserow.Digits(number))
		}
		rows, err := s.named(ctx, names)
		return 0, rows, err
	})
}

// allGiven returns the counts of given numbers and their nodes, by the From of ranges.
func (s *store) allGiven(ctx context.Context) (given map[int64]int64, nodes map[int64]*node, err error) {
	names, err := s.names(ctx, s.counts())
	if err != nil {
		return nil, nil, err
	}
	given, nodes = map[int64]int64{}, map[int64]*node{}
	err = s.each(ctx, s.counts(), names, func(from int64, n *node) (err error) {
		nodes[from] = n
		given[from], err = leaserow.Number(string(n.data))
		return err
	})
	return given, nodes, err
}

// rows returns the rows within a range, highest first. A limit below 1 means all rows.
func (s *store) rows(ctx context.Context, within leasestore.Range, limit int) (rows []leasestore.Row, err error) {
	names, err := s.names(ctx, s.numbers())
	if err != nil {
		return nil, err
	}
	slices.Sort(names)
	slices.Reverse(names)
	names = slices.DeleteFunc(names, func(n string) bool { return n > leaserow.Digits(within.To) || n < leaserow.Digits(within.From) })
	if limit > 0 {
		names = names[:min(limit, len(names))]
	}
	return s.named(ctx, names)
}

func (s *store) named(ctx context.Context, names []string) (rows []leasestore.Row, err error) {
	err = s.each(ctx, s.numbers(), names, func(number int64, n *node) error {
		r, err := leaserow.Parse(n.data)
		rows = append(rows, shown(number, r, n))
		return err
	})
	return rows, err
}

const atOnce = 16 // nodes are got at a time

// each gets children of a node, whose names are numbers, and calls call with each.
func (s *store) each(ctx context.Context, parent string, names []string, call func(number int64, n *node) error) error {
	nodes, errs := make([]*node, len(names)), make([]error, len(names))
	var getting sync.WaitGroup
	free := make(chan struct{}, atOnce)
	for i, name := range names {
		free <- struct{}{}
		getting.Go(func() {
			nodes[i], errs[i] = s.get(ctx, parent+"/"+name)
			<-free
		})
	}
	getting.Wait()
	if err := cmp.Or(errs...); err != nil {
		return err
	}
	for i, n := range nodes {
		if n == nil {
			continue
		}
		number, err := leaserow.Number(names[i])
		if err == nil {
			err = call(number, n)
		}
		if err != nil {
			return foreign(parent+"/"+names[i], err)
		}
	}
	return nil
}
