package uid_test

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/uidring/uidring/uid"
)

func ExampleID_Base32() {
	fmt.Println(uid.ID(960121041164754944).Base32())
	fmt.Println(uid.ID(7).Base32())
	// Output:
	// 0TMR900001R00
	// 0000000000007
}

func ExampleParseBase32() {
	id, err := uid.ParseBase32("otmr90000lroo") // as someone typed it
	fmt.Println(id, err)
	_, err = uid.ParseBase32("0TMRU00001R00")
	fmt.Println(err)
	// Output:
	// 960121041164754944 <nil>
	// uid: not an id: "0TMRU00001R00", "U" at 5 is not a character of Crockford's base32, want 13 of them
}

func ExampleID_Base62() {
	texts := []string{uid.ID(36).Base62(), uid.ID(960121041164754944).Base62(), uid.ID(35).Base62()}
	slices.Sort(texts) // sorts the ids
	fmt.Println(texts)
	// Output: [0000000000Z 0000000000a 18vMbLaU6vg]
}

func ExampleParseBase62() {
	id, err := uid.ParseBase62("18vMbLaU6vg")
	fmt.Println(id, err)
	_, err = uid.ParseBase62("18vMbLaU6v")
	fmt.Println(err)
	// Output:
	// 960121041164754944 <nil>
	// uid: not an id: "18vMbLaU6v", want 11 characters of base62, not 10
}

func ExampleID_AppendText() {
	line, err := uid.ID(960121041164754944).AppendText([]byte("id="))
	fmt.Printf("%s %v\n", line, err)
	// Output: id=960121041164754944 <nil>
}

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
