package segmentredis

import (
	"context"
	"errors"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/uidring/uidring/internal/redisstore"
)

// warn logs, once for each Store, if the server may lose writes that it acknowledged.
// If the server is unavailable, the next Reserve asks it again.
func (s *Store) warn(ctx context.Context) {
	if s.check() != nil || ctx.Err() != nil || !s.warned.CompareAndSwap(false, true) {
		return
	}
	wrong, err := redisstore.Await(ctx, func() (string, error) { return s.forgetful(ctx) })
	var refused redis.Error // the user may not read the settings
	if err != nil && (ctx.Err() != nil || !errors.As(err, &refused)) {
		s.warned.Store(false)
		return
	}
	if wrong != "" {
		s.journal.Add(func() {
			s.logger.Warn("segmentredis: "+redisstore.Forgets, "settings", wrong, "error", err, "store", s.String())
		})
	}
}

func (s *Store) forgetful(ctx context.Context) (string, error) {
	var server redis.Cmdable = s.client
	if cluster, ok := s.client.(*redis.ClusterClient); ok {
		master, err := cluster.MasterForKey(ctx, s.keys()[0])
		if err != nil {
			return "", err
		}
		server = master
	}
	wrong, err := redisstore.Forgetful(func(setting string) (map[string]string, error) { return server.ConfigGet(ctx, setting).Result() })
	if err != nil {
		return wrong, err
	}
	info, err := server.Info(ctx, "replication").Result()
	if err != nil {
		return "not shown", err
	}
	if !strings.Contains(info, "connected_slaves:0") {
		wrong = strings.TrimPrefix(wrong+", replicas, and a failover undoes the last writes", ", ")
	}
	return wrong, nil
}
