package stores

import (
	"cmp"
	"context"
	"errors"
	"strings"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/uidring/uidring/cmd/uidring/database"
	"github.com/uidring/uidring/worker/lease"
	"github.com/uidring/uidring/worker/workeretcd"
)

func etcd(text string) (*database.Store, error) {
	a := read(text, "2379")
	config := clientv3.Config{
		DialTimeout: a.duration("timeout", patience),
		TLS:         a.tls(a.yes("tls")),
		Logger:      zap.NewNop(), // whatever fails is returned
	}
	a.credentials(&config.Username, &config.Password)
	prefix := cmp.Or(strings.TrimSuffix(a.path, "/"), workeretcd.DefaultPrefix)
	if err := errors.Join(a.end("timeout, tls, ca, cert or key"), workeretcd.NewStore(new(clientv3.Client), prefix).Check()); err != nil {
		return nil, err
	}
	scheme := "http://"
	if config.TLS != nil {
		scheme = "https://"
	}
	for _, host := range a.hosts {
		config.Endpoints = append(config.Endpoints, scheme+host)
	}
	return &database.Store{Name: a.name(), Timeout: config.DialTimeout, Open: func(ctx context.Context) (lease.Store, func() error, error) {
		if err := reach(ctx, a.hosts); err != nil {
			return nil, nil, err
		}
		client, err := clientv3.New(config)
		if err != nil {
			return nil, nil, err
		}
		if _, err := client.Get(ctx, prefix, clientv3.WithPrefix(), clientv3.WithCountOnly()); err != nil {
			return nil, nil, errors.Join(err, client.Close())
		}
		return workeretcd.NewStore(client, prefix), client.Close, nil
	}}, nil
}

// credentials sets user and password, which come together.
func (a *address) credentials(user, password *string) {
	if a.user == nil {
		return
	}
	*user = a.user.Username()
	*password, _ = a.user.Password()
	if *user == "" || *password == "" {
		a.fault("want user and password, or neither")
	}
}
