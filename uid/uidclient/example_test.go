package uidclient_test

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"strconv"

	"github.com/uidring/uidring/uid/uidclient"
)

// Ids of a server in this process. The server here stands for uidringd.
func Example() {
	next := 1001
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n, _ := strconv.Atoi(r.URL.Query().Get("n"))
		fmt.Fprintf(w, `{"instance":"5a1e","number":%d,"runs":[{"first":"%d","count":%d}]}`, next, next, n)
		next += n
	}))
	defer server.Close()

	gen, err := uidclient.New(context.Background(), []string{server.URL}, "orders", uidclient.Config{})
	if err != nil {
		log.Fatal(err)
	}
	defer gen.Close()
	fmt.Println(gen.Next())
	fmt.Println(gen.Next())
	// Output:
	// 1001 <nil>
	// 1002 <nil>
}
