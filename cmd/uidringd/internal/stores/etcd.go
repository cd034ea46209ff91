package stores

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/uidring/uidring/cmd/internal/database"
	"github.com/uidring/uidring/worker/lease/leasestore"
	"github.com/uidring/uidring/worker/workeretcd"
)

func etcd(text string) (*database.Store, error) {
	a := read(text, "2379")
	config := a.etcd()
	prefix := cmp.Or(strings.TrimSuffix(a.path, "/"), workeretcd.DefaultPrefix)
	if err := errors.Join(a.end("timeout, tls, ca, cert or key"), workeretcd.NewStore(new(clientv3.Client), workeretcd.Config{Prefix: prefix}).Check()); err != nil {
		return nil, err
	}
	rights := func(user string) string {
		return fmt.Sprintf("etcdctl role add %[1]s\netcdctl role grant-permission %[1]s %[2]s\netcdctl user grant-role %[1]s %[1]s\n", user, workeretcd.Role(prefix))
	}
	return &database.Store{Name: a.name(), Timeout: config.DialTimeout, Rights: rights, Open: func(ctx context.Context) (leasestore.Store, func() error, error) {
		if err := reach(ctx, a.hosts); err != nil {
			return nil, nil, err
		}
		client, err := clientv3.New(config)
		if err != nil {
			return nil, nil, err
		}
		store := workeretcd.NewStore(client, workeretcd.Config{Prefix: prefix})
		// Get waits for a member until ctx ends. Prepare does not, but names a right that is missing.
		_, err = client.Get(ctx, prefix+"/", clientv3.WithPrefix(), clientv3.WithCountOnly())
		if ctx.Err() == nil {
			err = store.Prepare(ctx, nil)
		}
		if err != nil {
			return nil, nil, errors.Join(err, client.Close())
		}
		return store, client.Close, nil
	}}, nil
}

func (a *address) etcd() clientv3.Config {
	config := clientv3.Config{
		DialTimeout: a.duration("timeout"),
		DialOptions: workeretcd.DialOptions(),
		TLS:         a.tls(a.yes("tls")),
		Logger:      zap.NewNop(), // whatever fails is returned
	}
	a.credentials(&config.Username, &config.Password)
	scheme := "http://"
	if config.TLS != nil {
		scheme = "https://"
	}
	for _, host := range a.hosts {
		config.Endpoints = append(config.Endpoints, scheme+host)
	}
	return config
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
