package inventory

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"trtmc-ranking-proxy/conformance/qualify/agreement"
	"trtmc-ranking-proxy/conformance/qualify/evidence/evidencetest"
)

const root = "../.."

func TestTheInventoryOfThisRepositoryVerifies(t *testing.T) {
	i, err := Load(filepath.Join(root, "conformance/inventory.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if err := i.Verify(os.DirFS(root)); err != nil {
		t.Error(err)
	}
	if len(i.RankingGroup) != 1 {
		t.Errorf("the ranking group has %d checkpoints; TRTMC has one", len(i.RankingGroup))
	}
	for _, name := range []string{"nemotron-rerank-vl-1b-v2", "nemotron-rerank-vl-1b-v2-tp4", "minilm-l6-rerank"} {
		if _, _, found := i.Find(name); !found {
			t.Errorf("%s is missing", name)
		}
	}
	if _, section, _ := i.Find("minilm-l6-rerank"); section != "stand-in" {
		t.Errorf("the stand-in is counted as %s", section)
	}
}

func sound() Entry {
	return Entry{
		Name: "m", Checkpoint: "c", Revision: "r", Profile: "p", Family: "f", NativeTask: "t 1.0", Controls: "none",
		Status: Implemented, Evidence: []Evidence{{"works", []string{"a_test.go"}}}, Gaps: []string{"has not run"},
	}
}

func qualified() Entry {
	e := sound()
	e.Status, e.BundleDigest, e.Result, e.Gaps = AIPerfQualified, evidencetest.Digest, evidencetest.Path, nil
	e.Gates = agreement.TaskDefaults()
	return e
}

// files are the evidence of the entry "m": its tests, and the result of a qualification after forge.
func files(t *testing.T, forge func(*evidencetest.Honest)) fstest.MapFS {
	h := evidencetest.New()
	forge(h)
	tree := h.Tree(t)
	tree["a_test.go"] = &fstest.MapFile{Data: []byte("package a")}
	tree["empty.go"] = &fstest.MapFile{}
	return tree
}

func unchanged(*evidencetest.Honest) {}

func inventoryOf(e Entry) *Inventory {
	return &Inventory{
		Refreshed:    "2026-12-01",
		Baselines:    []Baseline{{What: "b", Version: "1", Read: "2026-12-01"}},
		RankingGroup: []Entry{e},
	}
}

func TestEveryStatusTakesItsEvidence(t *testing.T) {
	f := func(name, problem string, from Entry, change func(*Entry)) {
		t.Helper()
		t.Run(name, func(t *testing.T) {
			change(&from)
			err := inventoryOf(from).Verify(files(t, unchanged))
			switch {
			case problem == "" && err != nil:
				t.Errorf("refused: %v", err)
			case problem != "" && (err == nil || !strings.Contains(err.Error(), problem)):
				t.Errorf("got %v, want %q", err, problem)
			}
		})
	}
	f("implemented", "", sound(), func(*Entry) {})
	f("planned needs nothing", "", sound(), func(e *Entry) { e.Status, e.Evidence = Planned, nil })
	f("planned needs a gap", "names no gap", sound(), func(e *Entry) { e.Status, e.Gaps = Planned, nil })
	f("implemented needs a gap", "names no gap", sound(), func(e *Entry) { e.Gaps = nil })
	f("no evidence", "m: is not implemented: there is no evidence", sound(), func(e *Entry) { e.Evidence = nil })
	f("no claim", "no claim", sound(), func(e *Entry) { e.Evidence[0].Claim = "" })
	f("missing file", "gone_test.go", sound(), func(e *Entry) { e.Evidence[0].Files = []string{"gone_test.go"} })
	f("empty file", "empty.go is not a file with something in it", sound(), func(e *Entry) { e.Evidence[0].Files = []string{"empty.go"} })
	f("a folder", "bench is not a file", sound(), func(e *Entry) { e.Evidence[0].Files = []string{"bench"} })
	f("invented status", "no such status", sound(), func(e *Entry) { e.Status = "certified" })
	f("no revision", "needs checkpoint, revision", sound(), func(e *Entry) { e.Revision = "" })
	f("qualified", "", qualified(), func(*Entry) {})
	f("qualified means validated", "", qualified(), func(e *Entry) { e.Status, e.Gaps = FamilyValidated, []string{"no AIPerf"} })
	f("no result named", "is not a bench/results/m/", qualified(), func(e *Entry) { e.Result = "" })
	f("another's result", "is not a bench/results/m/", qualified(), func(e *Entry) { e.Result = "bench/results/n/2026-12-01/result.json" })
	f("missing result", "2020-01-01", qualified(), func(e *Entry) { e.Result = "bench/results/m/2020-01-01/result.json" })
	f("another bundle", "is of the bundle", qualified(), func(e *Entry) { e.BundleDigest = "sha256:" + strings.Repeat("b", 64) })
	f("no digest", "is of the bundle", qualified(), func(e *Entry) { e.BundleDigest = "" })
	f("gates loosened since", "other gates", qualified(), func(e *Entry) { least := 0.1; e.Gates.KendallTau = &least })
	f("gates dropped since", "other gates", qualified(), func(e *Entry) { e.Gates = agreement.Criteria{} })
	f("the model has changed since", "qualify it again", qualified(), func(e *Entry) { e.Profile = "a_test.go" })
	f("a fixture is no validation", "is not a bench/results/m/", sound(), func(e *Entry) { e.Status = FamilyValidated })
}

func TestAResultMustProveTheStatus(t *testing.T) {
	f := func(name, problem string, forge func(*evidencetest.Honest)) {
		t.Helper()
		if err := inventoryOf(qualified()).Verify(files(t, forge)); err == nil || !strings.Contains(err.Error(), problem) {
			t.Errorf("%s: got %v, want %q", name, err, problem)
		}
	}
	f("of another entry", `is of "n"`, func(h *evidencetest.Honest) { h.Result.Entry = "n" })
	f("validated only", "reached family-validated only", func(h *evidencetest.Honest) {
		h.Result.Status, h.Result.Gaps = "family-validated", []string{"no AIPerf"}
	})
	f("on a double", "reached implemented only", func(h *evidencetest.Honest) {
		h.Result.Status, h.Result.Fixture, h.Result.Gaps = "implemented", true, []string{"a double"}
	})
	f("another revision", "the inventory says", func(h *evidencetest.Honest) { h.Result.Identity.Served.Revision = "r2" })
	f("another family", "the inventory says", func(h *evidencetest.Honest) { h.Result.Identity.Served.Family = "g" })
	f("a failed gate", "did not pass", func(h *evidencetest.Honest) { h.Result.Gates[0].Passed = false })
	f("a request lost", "in evidence", func(h *evidencetest.Honest) { h.Requests = h.Requests[1:] })
}

func TestTheWholeMustHold(t *testing.T) {
	f := func(name, problem string, change func(*Inventory)) {
		t.Helper()
		t.Run(name, func(t *testing.T) {
			i := inventoryOf(sound())
			change(i)
			if err := i.Verify(files(t, unchanged)); err == nil || !strings.Contains(err.Error(), problem) {
				t.Errorf("got %v, want %q", err, problem)
			}
		})
	}
	f("empty group", "the ranking group is empty", func(i *Inventory) { i.RankingGroup = nil })
	f("name used twice", "used twice", func(i *Inventory) { i.StandIns = []Entry{sound()} })
	f("variant of nothing", `variant of "x"`, func(i *Inventory) {
		v := sound()
		v.Name, v.Of = "v", "x"
		i.Variants = []Entry{v}
	})
	f("audit without a reason", "a reason", func(i *Inventory) { i.AuditedOut = []Audited{{Names: []string{"bert"}, Declares: "encoding"}} })
	f("no baselines", "no baselines", func(i *Inventory) { i.Baselines = nil })
	f("baseline without a commit", "needs a commit", func(i *Inventory) { i.Baselines[0].Version = "" })
	f("no date", "is not a date", func(i *Inventory) { i.Refreshed = "lately" })
}

func TestUnknownKeysAreRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "inventory.yaml")
	if err := os.WriteFile(path, []byte("refreshed: 2026-12-01\nmodels: []\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(path); err == nil || !strings.Contains(err.Error(), "models") {
		t.Errorf("got %v", err)
	}
}

func TestTableShowsStatusEvidenceAndGaps(t *testing.T) {
	var out strings.Builder
	i := inventoryOf(sound())
	i.AuditedOut = []Audited{{Names: []string{"albert", "bert", "dpr"}, Family: "x", Declares: "encoding", Reason: "no head"}}
	if err := i.Table(&out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"ranking group", "implemented", "1 claims, 1 files", "gap of m: has not run", "albert, bert, 1 more", "out: albert, bert, dpr: no head"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
}
