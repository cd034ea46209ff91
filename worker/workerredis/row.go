package workerredis

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/uidring/uidring/worker/lease"
)

// row is the value of a number. The script writes all of it as text.
type row struct {
	Token     string         `json:"token"`
	Until     int64          `json:"reserved_until,string"`
	Heartbeat int64          `json:"heartbeat,string"` // 0 is free
	Created   int64          `json:"created,string"`
	Host      string         `json:"host"`
	Port      string         `json:"port"`
	Type      lease.NodeType `json:"type,string"`
}

// parser takes replies apart. It keeps the first error.
type parser struct {
	store  *Store
	expiry time.Duration
	now    int64
	err    error
}

func (s *Store) parser(expiry time.Duration) *parser { return &parser{store: s, expiry: expiry} }

func (p *parser) fail(format string, args ...any) {
	p.err = cmp.Or(p.err, fmt.Errorf("workerredis: "+format, args...))
}

// list returns a reply of n parts, or of any number of parts if n is negative.
func (p *parser) list(reply any, n int) []any {
	parts, ok := reply.([]any)
	if !ok || n >= 0 && len(parts) != n {
		p.fail("the reply is %v, want a list of %d", reply, n)
		return make([]any, max(n, 0))
	}
	return parts
}

// integer is an integer, as text.
func (p *parser) integer(part any) int64 {
	text, _ := part.(string)
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		p.fail("%v in %s, want an integer", part, p.store.prefix)
	}
	return n
}

var errNoToken = errors.New("it has no token")

// row is the row of a number, as package lease knows it.
func (p *parser) row(number, value any) lease.Row {
	var r row
	text, _ := value.(string)
	err := json.Unmarshal([]byte(text), &r)
	if err == nil && r.Token == "" {
		err = errNoToken
	}
	if err != nil {
		p.fail("field %v of %s is %q, want a row as JSON: %w", number, p.store.keys()[0], text, err)
	}
	state := lease.StateHeld
	switch {
	case r.Heartbeat == 0:
		state = lease.StateFree
	case r.Heartbeat <= p.now-p.expiry.Milliseconds():
		state = lease.StateExpired
	}
	return lease.Row{
		Number: p.integer(number), Token: r.Token, Until: r.Until, State: state,
		Node: lease.Node{Host: r.Host, Port: r.Port, Type: r.Type}, Heartbeat: r.Heartbeat, Created: r.Created,
	}
}

// search returns the server's clock, all rows, the highest number first, and the counts
// of given numbers by the From of holders' bounds.
func (s *Store) search(ctx context.Context, expiry time.Duration) (now int64, rows []lease.Row, given map[int64]int64, err error) {
	reply, err := s.run(ctx, searching)
	if err != nil {
		return 0, nil, nil, err
	}
	p := s.parser(expiry)
	parts := p.list(reply, 3)
	p.now = p.integer(parts[0])
	for pair := range slices.Chunk(p.list(parts[1], -1), 2) {
		rows = append(rows, p.row(pair[0], pair[1]))
	}
	slices.SortFunc(rows, func(a, b lease.Row) int { return cmp.Compare(b.Number, a.Number) })
	given = map[int64]int64{}
	for pair := range slices.Chunk(p.list(parts[2], -1), 2) {
		given[p.integer(pair[0])] = p.integer(pair[1])
	}
	return p.now, rows, given, p.err
}
