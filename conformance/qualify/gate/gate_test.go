package gate

import (
	"math"
	"testing"
)

func TestGates(t *testing.T) {
	f := func(g Gate, want bool, text string) {
		t.Helper()
		if g.Passed != want || g.Holds() != want || g.String() != text {
			t.Errorf("%q passed %t, want %q %t", g.String(), g.Passed, text, want)
		}
	}
	f(AtLeast("s", "tau", 0.8, 0.8), true, "s: tau: want >= 0.8, measured 0.8")
	f(AtLeast("s", "tau", 0.8, 0.79), false, "s: tau: want >= 0.8, measured 0.79")
	f(AtMost("s", "error", 0.05, 0.05), true, "s: error: want <= 0.05, measured 0.05")
	f(AtMost("s", "error", 0.05, 0.06), false, "s: error: want <= 0.05, measured 0.06")
	f(AtMost("s", "error", 0.05, math.NaN()), false, "s: error: want <= 0.05, measured nothing")
	f(AtLeast("s", "tau", 0.8, math.Inf(1)), false, "s: tau: want >= 0.8, measured nothing")
	f(None("s", "lost", 0), true, "s: lost: want 0, measured 0")
	f(None("s", "lost", 1), false, "s: lost: want 0, measured 1")
	f(Exactly("s", "seen", 3, 2), false, "s: seen: want 3, measured 2")
	f(Gate{Step: "s", Name: "empty"}, false, "s: empty: want nothing, measured nothing")
}

func TestFailed(t *testing.T) {
	if failed := Failed([]Gate{None("s", "a", 0), None("s", "b", 1)}); len(failed) != 1 || failed[0].Name != "b" {
		t.Errorf("got %v", failed)
	}
}
