package uidclient_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"strconv"

	"github.com/uidring/uidring/uid"
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

// No server has ids at present. A start fails, and the error says when to ask again.
func ExampleUnavailableError() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "the database is unavailable", http.StatusServiceUnavailable)
	}))
	defer server.Close()

	_, err := uidclient.New(context.Background(), []string{server.URL}, "orders", uidclient.Config{})
	if unavailable, ok := errors.AsType[*uidclient.UnavailableError](err); ok {
		fmt.Println(unavailable.Name, unavailable.RetryAfter() > 0)
	}
	// Output: orders true
}

// A server refuses: the generator's name is wrong.
func ExampleStatusError() {
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()

	_, err := uidclient.New(context.Background(), []string{server.URL}, "oders", uidclient.Config{})
	if status, ok := errors.AsType[*uidclient.StatusError](err); ok {
		fmt.Println(status.Status, errors.Is(err, uid.ErrUnavailable))
	}
	// Output: 404 false
}
