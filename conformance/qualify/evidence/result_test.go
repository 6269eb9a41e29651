package evidence_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"trtmc-ranking-proxy/conformance/qualify/evidence"
	"trtmc-ranking-proxy/conformance/qualify/evidence/evidencetest"
)

// Whatever Parse takes survives being written and read again.
func FuzzParse(f *testing.F) {
	h := evidencetest.New()
	f.Add([]byte(h.Tree(f)[evidencetest.Path].Data))
	f.Add([]byte(`{"schema":"ranking-qualification/1"}`))
	for _, number := range endless {
		f.Add(withPassageRate(f, number))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := evidence.Parse(data)
		if err != nil {
			return
		}
		again, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := evidence.Parse(again); err != nil {
			t.Errorf("written again it does not fit: %v", err)
		}
	})
}

// Numbers that no float64 holds, or that exact arithmetic takes long over; found by fuzzing.
var endless = []string{"1e400", "1e999999", "1e9999999", "-1e99999999999999999999", "1e-999999", "1e-99999999999999999999"}

func TestNumbersWithoutBoundAreAnsweredAtOnce(t *testing.T) {
	for _, number := range endless {
		_, err := evidence.Parse(withPassageRate(t, number))
		if tooSmall := strings.Contains(number, "e-"); (err == nil) != tooSmall {
			t.Errorf("%s: %v", number, err)
		}
	}
}

func withPassageRate(t testing.TB, number string) []byte {
	whole := evidencetest.New().Tree(t)[evidencetest.Path].Data
	at := regexp.MustCompile(`"passages_per_s": *[0-9.e+]+`)
	if !at.Match(whole) {
		t.Fatal("the example has no passages_per_s")
	}
	return at.ReplaceAll(whole, []byte(`"passages_per_s": `+number))
}

// Results in the tree are read by the inventory only where a status names them; all must fit the schema and rest on their files.
func TestCommittedResultsVerify(t *testing.T) {
	const root = "../../.."
	names, err := filepath.Glob(filepath.Join(root, "bench/results/*/*", evidence.ResultFile))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if _, err := evidence.Verify(os.DirFS(filepath.Dir(name)), evidence.ResultFile); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
