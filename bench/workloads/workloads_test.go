package workloads

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestParseRefuses(t *testing.T) {
	f := func(data, want string) {
		t.Helper()
		if _, err := Parse("x", []byte(data)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", data, err, want)
		}
	}
	f("", "empty")
	f(`{"query":"q"}`, "no passages")
	f(`{"query":"q","passages":["p"],"texts":[]}`, "unknown field")
	f(`{"at_ms":2,"query":"q","passages":["p"]}{"at_ms":1,"query":"q","passages":["p"]}`, "arrives before")
	f(`{"query":"q","passages":["p"]}{`, "request 1")
}

func TestLoadReadsAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "own.jsonl")
	if err := os.WriteFile(path, []byte(`{"query":"q","passages":["a","b"],"class":"short"}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	w, err := Load(path)
	if err != nil || len(w.Requests) != 1 || len(w.Requests[0].Passages) != 2 {
		t.Fatalf("got %+v, %v", w, err)
	}
	if _, err := w.Only("long"); err == nil {
		t.Error("a class without requests was accepted")
	}
	if _, err := Load("W9"); err == nil || !strings.Contains(err.Error(), "W1 W2") {
		t.Errorf("unknown name: %v", err)
	}
}
