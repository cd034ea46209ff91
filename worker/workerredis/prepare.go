package workerredis

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/redis/go-redis/v9"

	"github.com/uidring/uidring/internal/redisstore"
)

// Prepare implements lease.Preparer: it logs a warning, once for each Store, if the
// server may lose writes that it acknowledged.
func (s *Store) Prepare(ctx context.Context, log *slog.Logger) error {
	if s.warned.Load() {
		return nil
	}
	wrong, err := redisstore.Await(ctx, func() (string, error) { return s.forgetful(ctx) })
	if ctx.Err() != nil {
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

func (s *Store) forgetful(ctx context.Context) (string, error) {
	var server redis.Cmdable = s.client
	if cluster, ok := s.client.(*redis.ClusterClient); ok {
		master, err := cluster.MasterForKey(ctx, s.keys()[0])
		if err != nil {
			return "", err
		}
		server = master
	}
	return redisstore.Forgetful(func(setting string) (map[string]string, error) { return server.ConfigGet(ctx, setting).Result() })
}
