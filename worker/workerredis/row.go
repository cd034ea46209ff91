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

	"github.com/redis/go-redis/v9"

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

var errNoToken = errors.New("it has no token")

// row is the row of a number, as package lease knows it. now is the server's clock.
func (s *Store) row(number, text string, now int64, expiry time.Duration) (lease.Row, error) {
	var r row
	n, err := strconv.ParseInt(number, 10, 64)
	if err == nil {
		err = json.Unmarshal([]byte(text), &r)
	}
	if err == nil && r.Token == "" {
		err = errNoToken
	}
	if err != nil {
		return lease.Row{}, fmt.Errorf("workerredis: field %s of %s is %q, want a row as JSON: %w", number, s.keys()[0], text, err)
	}
	state := lease.StateHeld
	switch {
	case r.Heartbeat == 0:
		state = lease.StateFree
	case r.Heartbeat <= now-expiry.Milliseconds():
		state = lease.StateExpired
	}
	return lease.Row{
		Number: n, Token: r.Token, Until: r.Until, State: state,
		Node: lease.Node{Host: r.Host, Port: r.Port, Type: r.Type}, Heartbeat: r.Heartbeat, Created: r.Created,
	}, nil
}

// search runs a script that reads. It returns the server's clock, rows, the highest number
// first, and the counts of given numbers by the From of holders' bounds.
func (s *Store) search(ctx context.Context, expiry time.Duration, script *redis.Script, args ...any) (now int64, rows []lease.Row, given map[int64]int64, err error) {
	reply, err := s.run(ctx, script, args...)
	if err != nil {
		return 0, nil, nil, err
	}
	parts, _ := reply.([]any)
	if len(parts) != 3 {
		return 0, nil, nil, fmt.Errorf("workerredis: %s answered %v, want a list of 3", s, reply)
	}
	now, _ = parts[0].(int64)
	for pair := range slices.Chunk(texts(parts[1]), 2) {
		row, err := s.row(pair[0], pair[1], now, expiry)
		if err != nil {
			return 0, nil, nil, err
		}
		rows = append(rows, row)
	}
	slices.SortFunc(rows, func(a, b lease.Row) int { return cmp.Compare(b.Number, a.Number) })
	given = map[int64]int64{}
	for pair := range slices.Chunk(texts(parts[2]), 2) {
		from, err1 := strconv.ParseInt(pair[0], 10, 64)
		next, err2 := strconv.ParseInt(pair[1], 10, 64)
		if err := errors.Join(err1, err2); err != nil {
			return 0, nil, nil, fmt.Errorf("workerredis: field %s of %s, want a number: %w", pair[0], s.keys()[1], err)
		}
		given[from] = next
	}
	return now, rows, given, nil
}

// texts returns a list of texts in a reply.
func texts(reply any) (list []string) {
	parts, _ := reply.([]any)
	for _, part := range parts {
		text, _ := part.(string)
		list = append(list, text)
	}
	return list
}
