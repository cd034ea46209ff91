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
	gen, err := uid.NewCached(context.Background(), workerkube.NewLeaser(config, lease.Config{}), uid.CachedConfig{})
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
