package qualify

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestAStepRunsOnce(t *testing.T) {
	dir, runs := filepath.Join(t.TempDir(), "m"), 0
	step := func() ([]float32, error) { runs++; return []float32{0.1, -3e-20}, nil }
	f := func(name string, basis any, fresh, resumed bool, wantRuns int) *state {
		t.Helper()
		s, err := openState(dir, fresh, basis)
		if err != nil {
			t.Fatal(err)
		}
		found, err := once(s, "scores", step)
		if err != nil || len(found) != 2 || found[0] != 0.1 || found[1] != -3e-20 {
			t.Errorf("%s: %v %v", name, found, err)
		}
		if s.resumed != resumed || runs != wantRuns {
			t.Errorf("%s: resumed %t after %d runs, want %t after %d", name, s.resumed, runs, resumed, wantRuns)
		}
		return s
	}
	f("first", "bundle 1", false, false, 1)
	f("again", "bundle 1", false, true, 1)
	f("another bundle", "bundle 2", false, false, 2)
	f("fresh", "bundle 2", true, false, 3)
	if err := f("goes on", "bundle 2", false, true, 3).finish(); err != nil {
		t.Fatal(err)
	}
	f("after a finished run", "bundle 2", false, false, 4)
}

func TestAFailedStepIsNotKept(t *testing.T) {
	s, err := openState(filepath.Join(t.TempDir(), "m"), false, nil)
	if err != nil {
		t.Fatal(err)
	}
	failure := errors.New("a gate failed")
	if _, err := once(s, "parity", func() (int, error) { return 1, failure }); !errors.Is(err, failure) {
		t.Errorf("got %v", err)
	}
	if found, err := once(s, "parity", func() (int, error) { return 2, nil }); err != nil || found != 2 {
		t.Errorf("got %d, %v", found, err)
	}
}

func TestABrokenStepIsNotTaken(t *testing.T) {
	s, err := openState(filepath.Join(t.TempDir(), "m"), false, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(s.dir, "parity.json"), []byte(`{"half`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := once(s, "parity", func() (int, error) { return 1, nil }); err == nil {
		t.Error("a broken file is taken for what the step found")
	}
}
