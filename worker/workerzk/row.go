package workerzk

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/uidring/uidring/worker/lease"
)

// row is the data of a number's node.
type row struct {
	Token string         `json:"token"`
	Until int64          `json:"reserved_until"`
	Held  bool           `json:"held"` // it was not given back
	Host  string         `json:"host"`
	Port  string         `json:"port"`
	Type  lease.NodeType `json:"type"`
}

// after is the row after a write.
func (r row) after(w lease.Write) row {
	r.Token, r.Until, r.Held = w.Token, w.Until, w.Change != lease.Release
	if w.Change == lease.Acquire {
		r.Host, r.Port, r.Type = w.Node.Host, w.Node.Port, w.Node.Type
	}
	return r
}

func (r row) data() []byte {
	data, _ := json.Marshal(r) // strings and numbers always can be
	return data
}

func parse(path string, n node) (r row, err error) {
	err = json.Unmarshal(n.data, &r)
	if err == nil && r.Token == "" {
		err = errors.New("it has no token")
	}
	if err != nil {
		return row{}, fmt.Errorf("workerzk: node %s is %q, want a row as JSON: %w", path, n.data, err)
	}
	return r, nil
}

// shown is the row as package lease knows it. The ephemeral child says that the holder
// is alive.
func (r row) shown(number int64, n node) lease.Row {
	state := lease.StateFree
	switch {
	case n.stat.NumChildren > 0:
		state = lease.StateHeld
	case r.Held:
		state = lease.StateExpired
	}
	return lease.Row{
		Number: number, Token: r.Token, Until: r.Until, State: state,
		Node: lease.Node{Host: r.Host, Port: r.Port, Type: r.Type}, Created: n.stat.Ctime,
	}
}

// name is the name of a number's node. Digits are as many as an int64 can have, so
// that names sort as numbers do.
func name(number int64) string { return fmt.Sprintf("%019d", number) }

func (s *Store) numbers() string            { return s.path + "/number" }
func (s *Store) counts() string             { return s.path + "/given" }
func (s *Store) number(number int64) string { return s.numbers() + "/" + name(number) }
func (s *Store) alive(number int64) string  { return s.number(number) + "/alive" }
func (s *Store) given(from int64) string    { return s.counts() + "/" + name(from) }

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
	n, err := s.client.get(ctx, s.number(number))
	if n == nil || err != nil {
		return nil, 0, err
	}
	r, err := parse(s.number(number), *n)
	if err != nil {
		return nil, 0, err
	}
	shown := r.shown(number, *n)
	return &shown, 0, nil
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
	nodes, err := s.client.all(ctx, s.counts(), names)
	if err != nil {
		return lease.View{}, err
	}
	given := map[int64]int64{}
	for name, n := range nodes {
		path := s.counts() + "/" + name
		from, err1 := parseNumber(path, name)
		next, err2 := parseNumber(path, string(n.data))
		if err := errors.Join(err1, err2); err != nil {
			return lease.View{}, err
		}
		given[from] = next
	}
	return lease.NewView(0, rows, given, within), nil
}

// rows returns the rows within bounds, highest first, at most limit of them; a limit
// below 1 is no limit.
func (s *Store) rows(ctx context.Context, within lease.Bounds, limit int) ([]lease.Row, error) {
	names, err := s.client.names(ctx, s.numbers())
	if err != nil {
		return nil, err
	}
	slices.Sort(names)
	slices.Reverse(names)
	names = slices.DeleteFunc(names, func(n string) bool { return n > name(within.To) || n < name(within.From) })
	if limit > 0 {
		names = names[:min(limit, len(names))]
	}
	nodes, err := s.client.all(ctx, s.numbers(), names)
	if err != nil {
		return nil, err
	}
	var rows []lease.Row
	for _, name := range names {
		n, ok := nodes[name]
		if !ok {
			continue
		}
		path := s.numbers() + "/" + name
		number, err1 := parseNumber(path, name)
		r, err2 := parse(path, n)
		if err := errors.Join(err1, err2); err != nil {
			return nil, err
		}
		rows = append(rows, r.shown(number, n))
	}
	return rows, nil
}
