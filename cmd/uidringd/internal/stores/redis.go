package stores

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"

	"github.com/uidring/uidring/cmd/internal/database"
	"github.com/uidring/uidring/internal/redisstore"
	"github.com/uidring/uidring/uid/segment/segmentredis"
	"github.com/uidring/uidring/worker/lease/leasestore"
	"github.com/uidring/uidring/worker/workerredis"
)

func init() { logging.Disable() } // it is for all clients alike; whatever fails is returned

// servers are what a URL of Redis names.
type servers struct {
	*address
	prefix  string // of keys; "" is the default of what is kept there
	timeout time.Duration
	client  func() redis.UniversalClient
}

func readRedis(text string) (*servers, error) {
	a := read(text, "6379")
	s := &servers{address: a, prefix: a.take("prefix"), timeout: a.duration("timeout")}
	cluster := a.yes("cluster")
	secure := a.tls(a.scheme == "rediss")
	if secure != nil && a.scheme != "rediss" {
		a.fault("options ca, cert and key: want rediss://")
	}
	if len(a.faults) > 0 {
		return nil, errors.Join(a.faults...)
	}
	// The client's own parser reads the rest of the options, and names those that it does not
	// know. It sets what certificates are for.
	for _, host := range a.hosts[1:] {
		a.options.Add("addr", host)
	}
	text = (&url.URL{Scheme: a.scheme, User: a.user, Host: a.hosts[0], Path: a.path, RawQuery: a.options.Encode()}).String()
	finish := func(config *tls.Config, limitedByContext *bool) {
		if config != nil && secure != nil {
			config.RootCAs, config.Certificates = secure.RootCAs, secure.Certificates
		}
		*limitedByContext = true
	}
	switch {
	case a.options.Has("master_name"):
		options, err := redis.ParseFailoverURL(text)
		if err != nil {
			return nil, err
		}
		finish(options.TLSConfig, &options.ContextTimeoutEnabled)
		s.client = func() redis.UniversalClient { return redis.NewFailoverClient(options) }
	case cluster || a.options.Has("addr"):
		options, err := redis.ParseClusterURL(text)
		if err != nil {
			return nil, err
		}
		finish(options.TLSConfig, &options.ContextTimeoutEnabled)
		s.client = func() redis.UniversalClient { return redis.NewClusterClient(options) }
	default:
		options, err := redis.ParseURL(text)
		if err != nil {
			return nil, err
		}
		finish(options.TLSConfig, &options.ContextTimeoutEnabled)
		s.client = func() redis.UniversalClient { return redis.NewClient(options) }
	}
	return s, nil
}

func (s *servers) connect(ctx context.Context) (redis.UniversalClient, error) {
	if err := reach(ctx, s.hosts); err != nil {
		return nil, err
	}
	client := s.client()
	if err := client.Ping(ctx).Err(); err != nil {
		return nil, errors.Join(redisstore.Denied(err, s.rules()), client.Close())
	}
	return client, nil
}

// rules are what a user needs for worker numbers and counters.
func (s *servers) rules() string { return workerredis.ACL(s.prefix) + " " + segmentredis.ACL(s.prefix) }

func redisServers(text string) (*database.Store, error) {
	s, err := readRedis(text)
	if err != nil {
		return nil, err
	}
	keys := workerredis.Config{Prefix: s.prefix}
	if err := workerredis.NewStore(new(redis.Client), keys).Check(); err != nil {
		return nil, err
	}
	leases := func(ctx context.Context) (leasestore.Store, func() error, error) {
		client, err := s.connect(ctx)
		if err != nil {
			return nil, nil, err
		}
		return workerredis.NewStore(client, keys), client.Close, nil
	}
	rights := func(user string) string {
		return fmt.Sprintf("ACL SETUSER %s on %s\n", user, s.rules())
	}
	counters := func(ctx context.Context, logger *slog.Logger) (database.CounterStore, func() error, error) {
		client, err := s.connect(ctx)
		if err != nil {
			return nil, nil, err
		}
		return segmentredis.New(client, segmentredis.Config{Prefix: s.prefix, Logger: logger}), client.Close, nil
	}
	return &database.Store{Name: s.name(), Timeout: s.timeout, Open: leases, Counters: counters, Rights: rights}, nil
}
