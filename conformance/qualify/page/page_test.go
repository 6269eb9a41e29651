package page

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"trtmc-ranking-proxy/conformance/qualify/evidence/evidencetest"
)

func TestPageSaysWhatCounts(t *testing.T) {
	f := func(name string, change func(*evidencetest.Honest), wanted ...string) {
		t.Helper()
		h, dir := evidencetest.New(), t.TempDir()
		change(h)
		if err := Write(dir, &h.Result, h.Requests); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, file := range []string{Name + ".md", Name + ".html"} {
			data, err := os.ReadFile(filepath.Join(dir, file))
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range wanted {
				if !strings.Contains(string(data), want) {
					t.Errorf("%s: no %q in %s", name, want, file)
				}
			}
		}
	}
	f("qualified", func(*evidencetest.Honest) {}, "Status: aiperf-qualified", "closed loop, 2 in flight", "constant rate 3/s", "public_task_call_wall", "make qualify MODEL=m", "CC0")
	f("double", func(h *evidencetest.Honest) { h.Result.Fixture, h.Result.Gaps = true, []string{"a double"} }, "nothing about the checkpoint", "a double.")
	f("no reference", func(h *evidencetest.Honest) { h.Result.Agreement, h.Result.Reference = nil, nil }, "a gap, not a pass")
	f("no AIPerf", func(h *evidencetest.Honest) { h.Result.Accounts, h.Result.Figures = nil, nil }, "Identity")
}

func TestUpdateTable(t *testing.T) {
	root := t.TempDir()
	if err := os.CopyFS(root, evidencetest.New().Tree(t)); err != nil {
		t.Fatal(err)
	}
	document := filepath.Join(root, "bench/README.md")
	update := func(text string) (string, error) {
		if err := os.WriteFile(document, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		err := UpdateTable(os.DirFS(root), root, "bench/results", "bench/README.md")
		data, readErr := os.ReadFile(document)
		if readErr != nil {
			t.Fatal(readErr)
		}
		return string(data), err
	}
	first, err := update("# Bench\n" + TableBegin + "\nold\n" + TableEnd + "\nthe end\n")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"# Bench\n", "[m](results/m/2026-12-01/report.md)", "aiperf-qualified", "10 of 10", "\nthe end\n"} {
		if !strings.Contains(first, want) {
			t.Errorf("no %q in\n%s", want, first)
		}
	}
	if strings.Contains(first, "old") {
		t.Error("the old table is still there")
	}
	if second, err := update(first); err != nil || second != first {
		t.Errorf("%v: a second update changes it:\n%s", err, second)
	}
	if _, err := update("# Bench\n"); err == nil {
		t.Error("a document without a place for the table is taken")
	}
}
