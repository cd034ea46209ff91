package workerredis

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/uidring/uidring/internal/leaserow"
	"github.com/uidring/uidring/internal/redisstore"
	"github.com/uidring/uidring/worker/lease"
	"github.com/uidring/uidring/worker/lease/leasestore"
)

// DefaultPrefix is the default of Config.Prefix.
const DefaultPrefix = "{uidring}:workers"

// ErrReplica means that a request reached a replica.
var ErrReplica = errors.New("workerredis: the server is a replica, want the master")

// Config configures [NewStore]. Zero fields take their default values. Errors about it match
// [lease.ErrConfig].
type Config struct {
	// Prefix is the prefix of the keys: UTF-8 without NUL, with a hash tag such as {orders}.
	// Empty means DefaultPrefix. All processes whose ids must differ must use the same Prefix.
	Prefix string
}

// Validate reports every invalid field in one error, which matches [lease.ErrConfig].
func (c Config) Validate() error {
	return redisstore.CheckPrefix("workerredis", cmp.Or(c.Prefix, DefaultPrefix), DefaultPrefix).Err()
}

// NewLeaser returns a Leaser for numbers in Redis under DefaultPrefix. NewLeaser itself does not
// contact Redis. For another prefix, pass a store from NewStore to lease.New. Close client after
// closing the last generator.
//
// client is a *redis.Client, with or without Sentinel, or a *redis.ClusterClient. A *redis.Ring
// is rejected: it moves an unavailable server's keys to another.
func NewLeaser(client redis.UniversalClient, config lease.Config) *lease.Leaser {
	return lease.New(NewStore(client, Config{}), config)
}

// store is a leasestore.Store in Redis.
type store struct {
	client redis.UniversalClient
	prefix string
	warned atomic.Bool // written and read by Prepare
}

// NewStore returns a store for lease.New that keeps its rows in a hash in Redis. It is safe for
// concurrent use.
func NewStore(client redis.UniversalClient, config Config) leasestore.Preparer {
	return &store{client: client, prefix: cmp.Or(config.Prefix, DefaultPrefix)}
}

func (s *store) String() string { return "redis " + s.prefix }

// keys are the keys of the rows, of the counts of given numbers, and of the layout.
func (s *store) keys() []string {
	return []string{s.prefix + ":numbers", s.prefix + ":given", s.prefix + ":layout"}
}

// ACL returns the ACL SETUSER rules for a Redis user that may do what a store from [NewStore] does under a
// prefix. An empty prefix means DefaultPrefix.
func ACL(prefix string) string {
	return redisstore.ACL((&store{prefix: cmp.Or(prefix, DefaultPrefix)}).keys(), "eval", "evalsha", "get", "set", "hget", "hgetall", "hmget", "hexists", "hset")
}

func (s *store) Check() error {
	return redisstore.Check("workerredis", s.client, s.prefix, DefaultPrefix)
}

// Prepare logs a warning, once per Store, if the server may lose acknowledged writes.
func (s *store) Prepare(ctx context.Context, log *slog.Logger) error {
	if s.warned.Load() {
		return nil
	}
	wrong, err := redisstore.Await(ctx, func() (string, error) { return s.forgetful(ctx) })
	if err != nil && ctx.Err() != nil {
		return fmt.Errorf("workerredis: read the settings of the server of %s: %w", s, err)
	}
	var refused redis.Error // the user may not ask
	if err != nil && !errors.As(err, &refused) {
		return err
	}
	if wrong != "" && s.warned.CompareAndSwap(false, true) {
		log.WarnContext(ctx, "workerredis: "+redisstore.Forgets, "settings", wrong, "error", err, "store", s.String())
	}
	return nil
}

func (s *store) forgetful(ctx context.Context) (string, error) {
	var server redis.Cmdable = s.client
	if cluster, ok := s.client.(*redis.ClusterClient); ok {
		master, err := cluster.MasterForKey(ctx, s.keys()[0])
		if err != nil {
			return "", err
		}
		server = master
	}
	return redisstore.Forgetful(func(setting string) (map[string]string, error) { return server.ConfigGet(ctx, setting).Result() },
		func() (string, error) { return server.Info(ctx).Result() })
}

func (s *store) Read(ctx context.Context, number int64, expiry time.Duration) (*leasestore.Row, int64, error) {
	now, rows, _, err := s.search(ctx, expiry, reading, leaserow.Digits(number))
	if len(rows) == 0 {
		return nil, now, err
	}
	return &rows[0], now, nil
}

func (s *store) List(ctx context.Context, limit int, expiry time.Duration) ([]leasestore.Row, error) {
	_, rows, _, err := s.search(ctx, expiry, searching)
	if limit > 0 {
		rows = rows[:min(limit, len(rows))]
	}
	return rows, err
}

func (s *store) Look(ctx context.Context, within leasestore.Range, full bool, expiry time.Duration) (leasestore.View, error) {
	if full {
		now, rows, given, err := s.search(ctx, expiry, searching)
		return leasestore.NewView(now, rows, given, within), err
	}
	now, _, given, err := s.search(ctx, expiry, counting)
	if err != nil {
		return leasestore.View{}, err
	}
	return leaserow.Sample(now, within, given, func(numbers []int64) (int64, []leasestore.Row, error) {
		var fields []any
		for _, number := range numbers {
			fields = append(fields, leaserow.Digits(number))
		}
		now, rows, _, err := s.search(ctx, expiry, reading, fields...)
		return now, rows, err
	})
}

func (s *store) Insert(ctx context.Context, w leasestore.Write) (number int64, done bool, err error) {
	return s.write(ctx, "", w)
}

func (s *store) Swap(ctx context.Context, old string, w leasestore.Write) (done bool, err error) {
	if old == "" {
		return false, nil // no row has it
	}
	_, done, err = s.write(ctx, old, w)
	return done, err
}

func (s *store) write(ctx context.Context, old string, w leasestore.Write) (number int64, done bool, err error) {
	fresh := 0
	if w.Fresh && old == "" {
		fresh = 1
	}
	change := map[leasestore.Change]string{leasestore.Acquire: "acquire", leasestore.Extend: "extend", leasestore.Release: "release"}[w.Change]
	reply, err := s.run(ctx, writing, leaserow.Digits(w.Number), old, w.Token, w.Until, change,
		w.Node.Host, w.Node.Port, int(w.Node.Type), leaserow.Digits(w.Within.From), leaserow.Digits(w.Within.To), fresh, w.Earliest, w.Latest)
	if err != nil {
		return 0, false, err
	}
	if parts, _ := reply.([]any); len(parts) == 2 {
		text, _ := parts[0].(string)
		if number, err = leaserow.Number(text); err == nil {
			return number, parts[1] == int64(1), nil
		}
	}
	return 0, false, fmt.Errorf("workerredis: %s answered %v, want a number and whether it was written", s, reply)
}

func (s *store) SwapLayout(ctx context.Context, old string, terms leasestore.Terms) (string, error) {
	reply, err := s.run(ctx, agreeing, old, terms.Layout)
	if err != nil {
		return "", err
	}
	remembered, ok := reply.(string)
	if !ok {
		return "", fmt.Errorf("workerredis: %s answered %v, want a layout", s, reply)
	}
	return remembered, nil
}

func (s *store) run(ctx context.Context, script *redis.Script, args ...any) (reply any, err error) {
	for idle := int(s.client.PoolStats().IdleConns); idle >= 0; idle-- { // all may lead to a server that was the master
		reply, err = redisstore.Await(ctx, func() (any, error) { return script.Run(ctx, s.client, s.keys(), args...).Result() })
		if !redis.HasErrorPrefix(err, "READONLY") {
			break
		}
	}
	return reply, redisstore.Denied(marked(err), ACL(s.prefix))
}

// marked marks transient errors, and makes a replica's error match ErrReplica.
func marked(err error) error {
	if err == nil {
		return nil
	}
	if redis.HasErrorPrefix(err, "READONLY") {
		return fmt.Errorf("%w: %w", ErrReplica, err)
	}
	for _, passing := range []string{"LOADING", "TRYAGAIN", "CLUSTERDOWN", "MASTERDOWN", "BUSY "} {
		if redis.HasErrorPrefix(err, passing) {
			return leasestore.Transient(err)
		}
	}
	return err
}

// row is the value of a number. The script writes all of it as text.
type row struct {
	Token     string              `json:"token"`
	Until     int64               `json:"reserved_until,string"`
	Heartbeat int64               `json:"heartbeat,string"` // 0 is free
	Created   int64               `json:"created,string"`
	Host      string              `json:"host"`
	Port      string              `json:"port"`
	Type      leasestore.NodeType `json:"type,string"`
}

// row is the row of a number. now is the server's clock.
func (s *store) row(number, text string, now int64, expiry time.Duration) (leasestore.Row, error) {
	var r row
	n, err := leaserow.Number(number)
	if err == nil {
		err = json.Unmarshal([]byte(text), &r)
	}
	if err == nil && r.Token == "" {
		err = errors.New("it has no token")
	}
	if err != nil {
		return leasestore.Row{}, fmt.Errorf("workerredis: field %s of %s is %q, want a row as JSON: %w", number, s.keys()[0], text, err)
	}
	return leasestore.Row{
		Number: n, Token: r.Token, Until: r.Until, State: leaserow.State(r.Heartbeat, now, expiry),
		Node: leasestore.Node{Host: r.Host, Port: r.Port, Type: r.Type}, Heartbeat: r.Heartbeat, Created: r.Created,
	}, nil
}

// search runs a script that reads. The counts of given numbers are by the From of ranges.
func (s *store) search(ctx context.Context, expiry time.Duration, script *redis.Script, args ...any) (now int64, rows []leasestore.Row, given map[int64]int64, err error) {
	reply, err := s.run(ctx, script, args...)
	if err != nil {
		return 0, nil, nil, err
	}
	var found, counts []any
	isTime, areRows, areCounts := false, false, false
	if parts, _ := reply.([]any); len(parts) == 3 {
		now, isTime = parts[0].(int64)
		found, areRows = parts[1].([]any)
		counts, areCounts = parts[2].([]any)
	}
	if !isTime || !areRows || !areCounts {
		return 0, nil, nil, fmt.Errorf("workerredis: %s answered %v, want the time, a list of rows and a list of counts", s, reply)
	}
	for pair := range slices.Chunk(texts(found), 2) {
		row, err := s.row(pair[0], pair[1], now, expiry)
		if err != nil {
			return 0, nil, nil, err
		}
		rows = append(rows, row)
	}
	slices.SortFunc(rows, func(a, b leasestore.Row) int { return cmp.Compare(b.Number, a.Number) })
	given = map[int64]int64{}
	for pair := range slices.Chunk(texts(counts), 2) {
		from, err1 := leaserow.Number(pair[0])
		next, err2 := leaserow.Number(pair[1])
		if err := errors.Join(err1, err2); err != nil {
			return 0, nil, nil, fmt.Errorf("workerredis: field %s of %s: %w", pair[0], s.keys()[1], err)
		}
		given[from] = next
	}
	return now, rows, given, nil
}

func texts(parts []any) (list []string) {
	for _, part := range parts {
		text, _ := part.(string)
		list = append(list, text)
	}
	return list
}
