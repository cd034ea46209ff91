package service

import "time"

// Request is a request that was answered, or several equal ones that were answered together.
type Request struct {
	Route    string // such as GET /v1/{name}, or redis INCR
	Protocol string
	Remote   string // the address of the client
	Caller   Caller
	Status   int    // of HTTP, unless the request failed
	Failed   *Error // nil without a failure
	Count    int    // of equal requests
	Bytes    int64  // of the answers
	Began    time.Time
	Ended    time.Time
}
