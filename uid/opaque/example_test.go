package opaque_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"log"

	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/uid/opaque"
)

// Keys of examples; real ones are 32 bytes of crypto/rand, kept where a service
// keeps its secrets.
var (
	oldKey = []byte("an example's key, which is known")
	newKey = []byte("another that is known, 32 bytes.")
)

func ExampleNew() {
	orders, err := opaque.New("orders", newKey, oldKey) // the new one seals, both open
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(orders)
	_, err = opaque.New("orders", newKey[:16])
	fmt.Println(err)
	// Output:
	// opaque.Sealer{context: "orders", keys: 2}
	// opaque: invalid config: key 1 of 1 has 16 bytes, want 32
}

func ExampleSealer_Seal() {
	orders, err := opaque.New("orders", newKey)
	if err != nil {
		log.Fatal(err)
	}
	for id := uid.ID(960121041164754944); id < 960121041164754946; id++ {
		token, err := orders.Seal(id)
		fmt.Println(token, err)
	}
	// Output:
	// 5SQD0BAQ1E3FYQH5W9BR4KCHSE <nil>
	// 2H0ZVQBC9Z2TZ69MYJAQ5M2WCA <nil>
}

func ExampleSealer_Open() {
	orders, err := opaque.New("orders", newKey)
	if err != nil {
		log.Fatal(err)
	}
	for _, text := range []string{"5SQD0BAQ1E3FYQH5W9BR4KCHSE", "5SQD0BAQ1E3FYQH5W9BR4KCHSF", "960121041164754944"} {
		token, err := opaque.ParseToken(text)
		if err != nil {
			fmt.Println(err) // no token at all: a bad request
			continue
		}
		id, err := orders.Open(token)
		if errors.Is(err, opaque.ErrToken) {
			fmt.Println(err) // not one of ours: answer as for an order that is not there
			continue
		}
		fmt.Println(id) // whether the caller may see it is still to be asked
	}
	// Output:
	// 960121041164754944
	// opaque: token is not authentic
	// opaque: malformed: "960121041164754944", want 26 characters of Crockford's base32, not 18
}

func ExampleToken() {
	type order struct {
		ID    opaque.Token `json:"id"`
		Items int          `json:"items"`
	}
	orders, err := opaque.New("orders", newKey)
	if err != nil {
		log.Fatal(err)
	}
	token, err := orders.Seal(960121041164754944)
	if err != nil {
		log.Fatal(err)
	}
	data, err := json.Marshal(order{ID: token, Items: 3})
	fmt.Println(string(data), err)
	// Output: {"id":"5SQD0BAQ1E3FYQH5W9BR4KCHSE","items":3} <nil>
}

func ExampleNewPermutation() {
	invoices, err := opaque.NewPermutation("invoices", newKey)
	if err != nil {
		log.Fatal(err)
	}
	number, err := invoices.Permute(960121041164754944)
	if err != nil {
		log.Fatal(err)
	}
	id, err := invoices.Restore(number)
	fmt.Println(number, id, err)
	id, err = invoices.Restore(number + 1) // made up, and some id none the less
	fmt.Println(id, err)
	// Output:
	// 1753108483923788078 960121041164754944 <nil>
	// 3890633335074097493 <nil>
}
