package uid_test

import (
	"encoding/json"
	"fmt"

	"github.com/uidring/uidring/uid"
)

// OrderID has all forms of an id, and the compiler keeps it apart from other ids.
type OrderID struct{ uid.ID }

// A type defined as uid.ID has none of its forms. A struct that embeds it has all of
// them.
func ExampleID() {
	type Plain uid.ID // wrong: has no methods
	type Order struct {
		ID     OrderID
		Parent *OrderID
		Plain  Plain
	}
	order := Order{ID: OrderID{960121041164754944}, Plain: 960121041164754944}
	data, err := json.Marshal(order)
	fmt.Println(string(data), err)

	var back Order
	err = json.Unmarshal(data, &back)
	fmt.Println(back.ID == order.ID, err)
	column, err := order.ID.Value()
	fmt.Println(column, err)
	// Output:
	// {"ID":"960121041164754944","Parent":null,"Plain":960121041164754944} <nil>
	// true <nil>
	// 960121041164754944 <nil>
}

func ExampleMustParse() {
	fmt.Println(uid.MustParse("960121041164754944").Base32())
	// Output: 0TMR900001R00
}
