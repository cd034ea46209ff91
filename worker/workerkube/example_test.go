package workerkube_test

import (
	"context"
	"fmt"
	"log"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/worker/lease"
	"github.com/uidring/uidring/worker/workerkube"
)

// In a pod, whose service account has the Role.
func Example() {
	config, err := rest.InClusterConfig()
	if err != nil {
		log.Fatal(err)
	}
	gen, err := uid.NewCached(context.Background(), workerkube.New(config, lease.Config{}), uid.CachedConfig{})
	if err != nil {
		log.Fatal(err)
	}
	defer gen.Close()
	id, err := gen.Next()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(id)
}

// Outside of a cluster, by a kubeconfig. Two systems in one namespace have a prefix each:
// their ids may be equal.
func ExampleNewStore() {
	config, err := clientcmd.BuildConfigFromFlags("", "/home/me/.kube/config")
	if err != nil {
		log.Fatal(err)
	}
	leaser := lease.New(workerkube.NewStore(config, workerkube.Config{Namespace: "orders", Prefix: "billing"}), lease.Config{})
	infos, err := leaser.Leases(context.Background(), 10)
	if err != nil {
		log.Fatal(err)
	}
	for _, info := range infos {
		fmt.Println(info.Number, info.State, info.Host)
	}
}

// All faults of the arguments come at once.
func ExampleNewStore_faults() {
	leaser := lease.New(workerkube.NewStore(nil, workerkube.Config{Namespace: "Orders"}), lease.Config{})
	_, err := leaser.Leases(context.Background(), 0)
	fmt.Println(err)
	// Output:
	// workerkube: invalid config: Namespace: "Orders": a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')
	// workerkube: invalid config: cluster: it is nil, want one such as that of rest.InClusterConfig
}
