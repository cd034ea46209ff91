package stores

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net/url"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"

	"github.com/uidring/uidring/cmd/internal/database"
	"github.com/uidring/uidring/internal/redisstore"
	"github.com/uidring/uidring/uid/segment/segmentredis"
	"github.com/uidring/uidring/worker/lease/leasestore"
	"github.com/uidring/uidring/worker/workerredis"
)

func init() { logging.Disable() } // it is for all clients alike; whatever fails is returned

func redisServers(text string) (*database.Store, error) {
	a := read(text, "6379")
	prefix, timeout := a.take("prefix"), a.duration("timeout") // an empty prefix is the default of what is kept there
	newClient, err := a.redis()
	if err != nil {
		return nil, err
	}
	keys := workerredis.Config{Prefix: prefix}
	if err := workerredis.NewStore(new(redis.Client), keys).Check(); err != nil {
		return nil, err
	}
	rules := workerredis.ACL(prefix) + " " + segmentredis.ACL(prefix) // what a user needs for worker numbers and counters
	connect := func(ctx context.Context) (redis.UniversalClient, error) {
		if err := reach(ctx, a.hosts); err != nil {
			return nil, err
		}
		client := newClient()
		if err := client.Ping(ctx).Err(); err != nil {
			return nil, errors.Join(redisstore.Denied(err, rules), client.Close())
		}
		return client, nil
	}
	leases := func(ctx context.Context) (leasestore.Store, func() error, error) {
		client, err := connect(ctx)
		if err != nil {
			return nil, nil, err
		}
		return workerredis.NewStore(client, keys), client.Close, nil
	}
	rights := func(user string) string {
		return fmt.Sprintf("ACL SETUSER %s on %s\n", user, rules)
	}
	counters := func(ctx context.Context, logger *slog.Logger) (database.CounterStore, func() error, error) {
		client, err := connect(ctx)
		if err != nil {
			return nil, nil, err
		}
		return segmentredis.New(client, segmentredis.Config{Prefix: prefix, Logger: logger}), client.Close, nil
	}
	return &database.Store{Name: a.name(), Timeout: timeout, Open: leases, Counters: counters, Rights: rights}, nil
}

// redis takes the options that are left, and returns what makes a client with them.
func (a *address) redis() (newClient func() redis.UniversalClient, err error) {
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
	text := (&url.URL{Scheme: a.scheme, User: a.user, Host: a.hosts[0], Path: a.path, RawQuery: a.options.Encode()}).String()
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
		return func() redis.UniversalClient { return redis.NewFailoverClient(options) }, nil
	case cluster || a.options.Has("addr"):
		options, err := redis.ParseClusterURL(text)
		if err != nil {
			return nil, err
		}
		finish(options.TLSConfig, &options.ContextTimeoutEnabled)
		return func() redis.UniversalClient { return redis.NewClusterClient(options) }, nil
	}
	options, err := redis.ParseURL(text)
	if err != nil {
		return nil, err
	}
	finish(options.TLSConfig, &options.ContextTimeoutEnabled)
	return func() redis.UniversalClient { return redis.NewClient(options) }, nil
}
