package inventory

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"trtmc-ranking-proxy/conformance/qualify/evidence"
	"trtmc-ranking-proxy/conformance/qualify/evidence/evidencetest"
)

const listed = `# A comment.
refreshed: 2026-12-01
baselines:
  - {what: b, version: "1", read: 2026-12-01}

ranking_group:
  - entry: other
    checkpoint: c
    revision: r
    profile: p
    family: f
    native_task: t 1.0
    controls: none
    status: planned
    gaps:
      - not begun

  - entry: m
    checkpoint: c
    revision: r
    profile: p # of it
    family: f
    native_task: t 1.0
    controls: none
    gates: {pairwise_ordering_agreement: 0.9, kendall_tau: 0.8, spearman_rho: 0.85, score_correlation: 0.95}
    status: implemented
    evidence:
      - claim: works
        files: [a_test.go]
    gaps:
      - has not run
      - nor this

# Looked at.
audited_out: []
`

// repository is a directory with the evidence of "m" and the inventory above.
func repository(t *testing.T, forge func(*evidencetest.Honest)) string {
	t.Helper()
	root := t.TempDir()
	if err := os.CopyFS(root, files(t, forge)); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "inventory.yaml"), []byte(listed), 0o600); err != nil {
		t.Fatal(err)
	}
	return root
}

func read(t *testing.T, root string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root, "inventory.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestPromoteMovesOneEntryAndNothingElse(t *testing.T) {
	root := repository(t, unchanged)
	result, err := evidence.Verify(os.DirFS(root), evidencetest.Path)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // a second qualification replaces the first
		if err := Promote(root, "inventory.yaml", result, evidencetest.Path); err != nil {
			t.Fatal(err)
		}
	}
	want := strings.NewReplacer(
		"    status: implemented\n", "    status: aiperf-qualified\n    bundle_digest: "+evidencetest.Digest+"\n    result: "+evidencetest.Path+"\n",
		"    gaps:\n      - has not run\n      - nor this\n", "").Replace(listed)
	if got := read(t, root); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestPromoteWritesTheGaps(t *testing.T) {
	gaps := func(h *evidencetest.Honest) {
		h.Result.Status, h.Result.Gaps = "family-validated", []string{`no "AIPerf"`}
	}
	root := repository(t, gaps)
	result, err := evidence.Verify(os.DirFS(root), evidencetest.Path)
	if err != nil {
		t.Fatal(err)
	}
	if err := Promote(root, "inventory.yaml", result, evidencetest.Path); err != nil {
		t.Fatal(err)
	}
	i, err := Load(filepath.Join(root, "inventory.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if e, _, _ := i.Find("m"); e.Status != FamilyValidated || len(e.Gaps) != 1 || e.Gaps[0] != `no "AIPerf"` {
		t.Errorf("%+v", e)
	}
}

func TestPromoteLeavesTheFileWhenTheEvidenceDoesNotVerify(t *testing.T) {
	f := func(problem string, forge func(*evidencetest.Honest), change func(*evidence.Result)) {
		t.Helper()
		root, h := repository(t, forge), evidencetest.New()
		forge(h)
		change(&h.Result)
		if err := Promote(root, "inventory.yaml", &h.Result, evidencetest.Path); err == nil || !strings.Contains(err.Error(), problem) {
			t.Errorf("got %v, want %q", err, problem)
		}
		if read(t, root) != listed {
			t.Error("the file was changed")
		}
	}
	same := func(*evidence.Result) {}
	f("did not pass", func(h *evidencetest.Honest) { h.Result.Gates[0].Passed = false }, same)
	f("is of the bundle", unchanged, func(r *evidence.Result) { r.BundleDigest = "sha256:" + strings.Repeat("b", 64) })
	f("reached implemented only", func(h *evidencetest.Honest) {
		h.Result.Status, h.Result.Fixture, h.Result.Gaps = "implemented", true, []string{"a double"}
	}, func(r *evidence.Result) { r.Status = "aiperf-qualified" })
	f("no such entry", unchanged, func(r *evidence.Result) { r.Entry = "x" })
}
