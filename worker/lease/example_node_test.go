package lease_test

import (
	"fmt"
	"log"

	"github.com/uidring/uidring/worker/lease"
)

// What a row says of a pod whose manifest sets POD_NAME.
func ExampleDetectNode() {
	environment := map[string]string{"KUBERNETES_SERVICE_HOST": "10.0.0.1", "POD_NAME": "billing-7"}
	node, err := lease.DetectNode(func(name string) string { return environment[name] })
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(node.Host, node.Type)
	// Output: billing-7 CONTAINER
}
