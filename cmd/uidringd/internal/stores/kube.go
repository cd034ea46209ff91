package stores

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/uidring/uidring/cmd/internal/database"
	"github.com/uidring/uidring/worker/lease/leasestore"
	"github.com/uidring/uidring/worker/workerkube"
)

// role is what a service account, its namespace and the rule go into.
const role = `apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: %[1]s, namespace: %[2]s}
rules:
  - %[3]s
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: %[1]s, namespace: %[2]s}
subjects:
  - {kind: ServiceAccount, name: %[1]s, namespace: %[2]s}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: %[1]s}
`

// kubernetes reads kube://namespace/prefix. The URL names no server: a kubeconfig does, or
// the pod that the process runs in.
func kubernetes(text string) (*database.Store, error) {
	place, _, _ := strings.Cut(text, "?") // the name of a context may have an @
	if err := database.CheckEncoding(place); err != nil {
		return nil, err
	}
	u, err := url.Parse(text)
	if err != nil || u.User != nil || u.Port() != "" || u.Fragment != "" {
		return nil, errors.New("the URL does not parse; want kube://namespace, kube://namespace/prefix, or kube:// for the namespace of the pod or the kubeconfig")
	}
	a := &address{scheme: "kube", options: u.Query()}
	timeout := a.duration("timeout")
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = a.take("kubeconfig")
	client := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &clientcmd.ConfigOverrides{CurrentContext: a.take("context")})
	namespace, prefix := u.Hostname(), strings.Trim(u.Path, "/")
	example := workerkube.NewStore(new(rest.Config), workerkube.Config{Namespace: cmp.Or(namespace, "default"), Prefix: prefix})
	if err := errors.Join(a.end("timeout, kubeconfig or context"), example.Check()); err != nil {
		return nil, err
	}
	rights := func(user string) string {
		return fmt.Sprintf(role, user, cmp.Or(namespace, "default"), workerkube.Rule)
	}
	return &database.Store{Name: "kube://" + namespace + u.Path, Timeout: timeout, Rights: rights, Open: func(ctx context.Context) (leasestore.Store, func() error, error) {
		config, err := client.ClientConfig()
		if clientcmd.IsEmptyConfig(err) {
			err = errors.New("there is neither a pod nor a kubeconfig to name the cluster: set KUBECONFIG, make ~/.kube/config, or add ?kubeconfig=FILE")
		}
		if err != nil {
			return nil, nil, err
		}
		if namespace == "" {
			if namespace, _, err = client.Namespace(); err != nil {
				return nil, nil, err
			}
		}
		transport, err := rest.TransportFor(config)
		if err != nil {
			return nil, nil, err
		}
		end := func() error { net.CloseIdleConnectionsFor(transport); return nil }
		store := workerkube.NewStore(config, workerkube.Config{Namespace: namespace, Prefix: prefix})
		err = store.Check()
		if err == nil {
			_, _, err = store.Read(ctx, 0, time.Minute)
		}
		if err != nil {
			return nil, nil, errors.Join(err, end())
		}
		return store, end, nil
	}}, nil
}
