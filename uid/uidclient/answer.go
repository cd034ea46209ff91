package uidclient

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/uidring/uidring/ringbuffer"
)

const (
	headBytes   = 4 << 10     // most bytes of an answer besides its runs
	runBytes    = 64          // most bytes of a run
	maxInstance = 128         // most bytes of an instance's name
	maxRetry    = time.Minute // longest Retry-After that the client follows
)

// answer is what a server says to a request for runs.
type answer struct {
	Instance string `json:"instance"`
	Kind     string `json:"kind"` // of the generator; empty from a server that does not say it
	Number   int64  `json:"number"`
	Runs     []struct {
		First string `json:"first"`
		Count int64  `json:"count"`
	} `json:"runs"`

	runs  []ringbuffer.Run // in ascending order
	count int64            // of ids
	sent  time.Time        // when the request was sent
}

func (a *answer) first() int64 { return a.runs[0].First }
func (a *answer) last() int64  { return a.runs[len(a.runs)-1].Last() }

func (c *Client) request(ctx context.Context, s *server, n int64) (*answer, error) {
	ctx, cancel := context.WithTimeout(ctx, c.config.Timeout)
	defer cancel()
	sent := time.Now()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url+"?n="+strconv.FormatInt(n, 10), nil)
	if err != nil {
		return nil, fmt.Errorf("uidclient: %w", err)
	}
	request.Header.Set("Accept", "application/json")
	if c.config.Token != "" {
		request.Header.Set("Authorization", "Bearer "+c.config.Token)
	}
	response, err := c.http.Do(request)
	if err != nil {
		return nil, fmt.Errorf("uidclient: %w", err) // the error names the URL
	}
	defer response.Body.Close()
	most := headBytes + n*runBytes
	body, err := io.ReadAll(io.LimitReader(response.Body, most+1))
	switch {
	case response.StatusCode != http.StatusOK:
		return nil, statusError(s, response, body)
	case err != nil:
		return nil, fmt.Errorf("uidclient: read the response of %s: %w", s.url, err)
	case int64(len(body)) > most:
		return nil, fmt.Errorf("%w: %s: more than %d bytes for %d ids", ErrAnswer, s.url, most, n)
	}
	a := &answer{sent: sent}
	if err := a.read(body, n); err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrAnswer, s.url, err)
	}
	return a, nil
}

func statusError(s *server, response *http.Response, body []byte) error {
	e := &StatusError{Server: s.url, Status: response.StatusCode}
	var problem struct{ Title, Detail string }
	if json.Unmarshal(body, &problem) == nil {
		e.Detail = fmt.Sprintf("%.200s", problem.Detail)
		if e.Detail == "" {
			e.Detail = fmt.Sprintf("%.200s", problem.Title)
		}
	}
	if seconds, err := strconv.ParseInt(response.Header.Get("Retry-After"), 10, 64); err == nil && seconds > 0 {
		e.retry = min(time.Duration(min(seconds, 3600))*time.Second, maxRetry)
	}
	return e
}

// read decodes body into a. The error names what is wrong, unless a has 1 to n ids in
// ascending runs.
func (a *answer) read(body []byte, n int64) error {
	decoder := json.NewDecoder(bytes.NewReader(body))
	if err := decoder.Decode(a); err != nil {
		return err
	}
	if _, err := decoder.Token(); err != io.EOF {
		return fmt.Errorf("more than one JSON value")
	}
	switch {
	case a.Instance == "" || len(a.Instance) > maxInstance:
		return fmt.Errorf("instance is %.16q, want 1 to %d bytes", a.Instance, maxInstance)
	case a.Kind == "slots":
		return fmt.Errorf("ids of a generator of kind slots have no order; want another kind")
	case a.Number < 1:
		return fmt.Errorf("number is %d, want 1 or more", a.Number)
	case len(a.Runs) == 0:
		return fmt.Errorf("no ids, want 1 to %d", n)
	}
	a.runs = make([]ringbuffer.Run, 0, len(a.Runs)+1)
	last := int64(0)
	for _, run := range a.Runs {
		first, err := strconv.ParseInt(run.First, 10, 64)
		switch {
		case err != nil || first < 1 || run.Count < 1 || first > math.MaxInt64-(run.Count-1):
			return fmt.Errorf("a run has %d ids from %.24q, want 1 or more ids, the first 1 or more", run.Count, run.First)
		case first <= last:
			return fmt.Errorf("a run starts at %d, want more than %d, the last id of the run before it", first, last)
		case run.Count > n-a.count:
			return fmt.Errorf("more ids than the %d that were requested", n)
		}
		a.runs = append(a.runs, ringbuffer.Run{First: first, N: run.Count})
		a.count += run.Count
		last = a.last()
	}
	return nil
}
