package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestArgumentsAreChecked(t *testing.T) {
	f := func(want string, args ...string) {
		t.Helper()
		_, err := parse(args)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Fatalf("%v: got %v, want %q", args, err, want)
		}
	}
	f("", "--url", "http://x")
	f("", "--ipc", "@task")
	f("either --url or --ipc")
	f("either --url or --ipc", "--url", "http://x", "--ipc", "/s")
	f(`unknown dialect "morse"`, "--url", "http://x", "--dialect", "morse")
	f(`unknown profile "all"`, "--url", "http://x", "--profile", "all")
	f(`unknown feature "luck"`, "--url", "http://x", "--without", "usage,luck")
	f(`unexpected argument "y"`, "--url", "http://x", "y")
}

// oneRanker answers what the case one-passage asks, well or badly.
func oneRanker(t *testing.T, logit string) string {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v1/models" {
			fmt.Fprint(w, `{"data":[{"id":"m"}]}`)
			return
		}
		fmt.Fprintf(w, `{"rankings":[{"index":0,"logit":%s}]}`, logit)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

func TestTheExitTellsTheResult(t *testing.T) {
	dir := t.TempDir()
	known := filepath.Join(dir, "known")
	if err := os.WriteFile(known, []byte("one-passage # a reason\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	stale := filepath.Join(dir, "stale")
	if err := os.WriteFile(stale, []byte("no-such-case\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	f := func(want, logit string, args ...string) {
		t.Helper()
		err := execute(t.Context(), append([]string{"--url", oneRanker(t, logit)}, args...))
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Fatalf("%v: got %v, want %q", args, err, want)
		}
	}
	f("", "1.5", "--only", "one-passage")
	f("1 cases failed", `"1.5"`, "--only", "one-passage")
	f("", `"1.5"`, "--only", "one-passage", "--known-failing", known)
	f("1 known-failing cases passed", "1.5", "--only", "one-passage", "--known-failing", known)
	f(`no case is named "no-such-case"`, "1.5", "--known-failing", stale)
	f("no case was run", "1.5", "--only", "drain")
	f("no case was run", "1.5", "--only", "no-such-theme")
	f("no http or https URL", "1.5", "--url", "ftp://x")
	f("does not answer at all", "1.5", "--url", "http://127.0.0.1:1")
	f("cannot read the API key", "1.5", "--api-key-file", filepath.Join(dir, "absent"))
}

func TestResultsAreWritten(t *testing.T) {
	dir := t.TempDir()
	structured, junit := filepath.Join(dir, "r.json"), filepath.Join(dir, "r.xml")
	args := []string{"--url", oneRanker(t, "1.5"), "--only", "one-passage", "--json", structured, "--junit", junit}
	if err := execute(t.Context(), args); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{structured, junit} {
		data, err := os.ReadFile(path)
		if err != nil || !strings.Contains(string(data), "one-passage") {
			t.Fatalf("%s: %v: %s", path, err, data)
		}
	}
	if err := execute(t.Context(), append(args, "--json", filepath.Join(dir, "no", "dir"))); err == nil {
		t.Fatal("a file that cannot be written is no error")
	}
}
