package inner

import "testing"

func TestOne(t *testing.T) {
	if one() != 1 {
		t.Error(one())
	}
}
