package source

import "testing"

func TestParse(t *testing.T) {
	for text, want := range map[string]Source{
		"lease": {Kind: Lease}, "registry": {Kind: Registry}, "static:0": {Kind: Static}, "static:9223372036854775807": {Static, 1<<63 - 1},
	} {
		if got, err := Parse(text, Lease, Registry); err != nil || got != want || got.String() != text {
			t.Errorf("%s: %v, %v, want %+v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "static", "static:", "static:-1", "static:9223372036854775808", "lease:", "lease:1", "statefulset", "Lease"} {
		if got, err := Parse(text, Lease, Registry); err == nil || err.Error() != "want lease, registry, or static:N, where N is 0 or more" {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
}
