package evidence_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"trtmc-ranking-proxy/conformance/qualify/evidence"
	"trtmc-ranking-proxy/conformance/qualify/evidence/evidencetest"
)

// Whatever Parse takes survives being written and read again.
func FuzzParse(f *testing.F) {
	h := evidencetest.New()
	f.Add([]byte(h.Tree(f)[evidencetest.Path].Data))
	f.Add([]byte(`{"schema":"ranking-qualification/1"}`))
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
