package need

import "testing"

// recorder notes what the helpers do to a test.
type recorder struct {
	testing.TB
	did string
}

func (r *recorder) Helper()      {}
func (r *recorder) Skip(...any)  { r.did = "skip" }
func (r *recorder) Fatal(...any) { r.did = "fail" }

func TestNeed(t *testing.T) {
	for all, want := range map[string]string{"": "skip", "1": "fail"} {
		t.Setenv("UIDRING_TEST_ALL", all)
		t.Setenv("UIDRING_TEST_NONE", "")
		for name, call := range map[string]func(testing.TB){
			"Skip":     func(t testing.TB) { Skip(t, "no reason") },
			"Variable": func(t testing.TB) { Variable(t, "UIDRING_TEST_NONE") },
			"Program":  func(t testing.TB) { Program(t, "no-such-program") },
		} {
			r := new(recorder)
			if call(r); r.did != want {
				t.Errorf("%s with UIDRING_TEST_ALL=%q: %q, want %q", name, all, r.did, want)
			}
		}
	}
}
