package lease

import (
	"context"
	"errors"
	"strings"
	"testing"
)

func TestOrdinal(t *testing.T) {
	const limit = 1023
	for _, tt := range []struct {
		name string
		pod  string // POD_NAME
		host string // the host name; empty is an error
		want int64
		err  string
	}{
		{name: "pod name", pod: "billing-7", host: "other-8", want: 7},
		{name: "host name", host: "billing-8", want: 8},
		{name: "first", pod: "billing-0", want: 0},
		{name: "many digits", pod: "billing-1023", want: 1023},
		{name: "several dashes", pod: "eu-billing-2-11", want: 11},
		{name: "zeros before", pod: "billing-007", want: 7},
		{name: "only an ordinal", pod: "-5", want: 5},
		{name: "beyond the layout", pod: "billing-1024", err: "ordinal 1024 is above 1023"},
		{name: "beyond 64 bits", pod: "billing-99999999999999999999", err: "want a name that ends in a dash"},
		{name: "of a deployment", pod: "billing-5d4f8c7b9-x2x7p", err: `POD_NAME is "billing-5d4f8c7b9-x2x7p"`},
		{name: "no dash", pod: "7", err: `"7", want a name`},
		{name: "no digits", pod: "billing-", err: "want a name"},
		{name: "a sign", pod: "billing-+7", err: "want a name"},
		{name: "a blank", pod: "billing- 7", err: "want a name"},
		{name: "other digits", pod: "billing-٧", err: "want a name"},
		{name: "a domain", host: "billing-7.billing.svc", err: `the host name is "billing-7.billing.svc"`},
		{name: "nothing", err: "the host name cannot be read: unknown"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := ordinal{
				getenv: func(name string) string { return map[string]string{"POD_NAME": tt.pod}[name] },
				hostname: func() (string, error) {
					if tt.host == "" {
						return "", errors.New("unknown")
					}
					return tt.host, nil
				},
			}.Assign(context.Background(), limit)
			if tt.err != "" {
				if got != 0 || err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Errorf("%d, %v; want %q", got, err, tt.err)
				}
				return
			}
			if got != tt.want || err != nil {
				t.Errorf("%d, %v; want %d", got, err, tt.want)
			}
		})
	}
}

func TestStatefulSetReadsTheEnvironment(t *testing.T) {
	t.Setenv("POD_NAME", "billing-12")
	if got, err := NewStatefulSet().Assign(context.Background(), 1023); got != 12 || err != nil {
		t.Errorf("%d, %v; want 12", got, err)
	}
}
