package stores_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/uidring/uidring/cmd/uidringd/internal/stores"
)

// The page has URLs that are understood, and the options that each store takes.
func TestReference(t *testing.T) {
	urls := regexp.MustCompile("(?m)^\\| `([a-z]+://[^`]+)`").FindAllStringSubmatch(stores.Reference, -1)
	options := regexp.MustCompile("(?m)^\\| `(.*)` \\| ([a-z, ]+) \\|").FindAllStringSubmatch(stores.Reference, -1)
	if len(urls) < 8 || len(options) < 7 {
		t.Fatalf("the page has %d URLs and %d rows of options", len(urls), len(options))
	}
	taken := map[string]string{}
	for _, row := range options {
		for scheme := range strings.SplitSeq(row[2], ", ") {
			for option := range strings.SplitSeq(row[1], "`, `") {
				taken[scheme] += option + " "
				err := stores.At(scheme+"://host?"+option, "the page").Check()
				if err != nil && (!strings.Contains(option, "=FILE") || strings.Contains(err.Error(), "unknown option")) {
					t.Errorf("%s of %s: %v", option, scheme, err)
				}
			}
		}
	}
	for _, row := range urls {
		scheme, _, _ := strings.Cut(row[1], "://")
		if err := stores.At(row[1], "the page").Check(); err != nil {
			t.Errorf("%s: %v", row[1], err)
		}
		err := stores.At(scheme+"://host?none=1", "the page").Check()
		if stores.All[scheme] == nil {
			continue
		}
		if err == nil {
			t.Errorf("%s takes an option that there is not", scheme)
		} else if _, known, found := strings.Cut(err.Error(), "want "); found {
			for _, name := range regexp.MustCompile(`\w+`).FindAllString(strings.ReplaceAll(known, " or ", " "), -1) {
				if !strings.Contains(taken[scheme], name+"=") {
					t.Errorf("the page lacks the option %s of %s", name, scheme)
				}
			}
		}
	}
}
