package lease_test

import (
	"fmt"
	"log"
	"os"

	"github.com/uidring/uidring/worker/lease"
)

// What a row says of a pod whose manifest sets POD_NAME.
func ExampleDetectNode() {
	for name, value := range map[string]string{"KUBERNETES_SERVICE_HOST": "10.0.0.1", "POD_NAME": "billing-7"} {
		os.Setenv(name, value)
		defer os.Unsetenv(name)
	}
	node, err := lease.DetectNode()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(node.Host, node.Type)
	// Output: billing-7 CONTAINER
}
