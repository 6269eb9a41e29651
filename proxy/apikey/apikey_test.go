package apikey

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"trtmc-ranking-proxy/proxy/ranking"
)

func write(t *testing.T, path, content string) string {
	t.Helper()
	if path == "" {
		path = filepath.Join(t.TempDir(), "keys")
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestCheck(t *testing.T) {
	keys, err := Load(write(t, "", "# of the search team\nalpha-1\n\n  beta.2 \r\n"))
	if err != nil {
		t.Fatal(err)
	}
	f := func(authorization, reason string) {
		t.Helper()
		err := keys.Check([]byte(authorization))
		if reason == "" {
			if err != nil {
				t.Fatalf("%q: %v", authorization, err)
			}
			return
		}
		var refusal *ranking.Error
		if !errors.As(err, &refusal) || refusal.Kind != ranking.Unauthorized || refusal.Reason != reason {
			t.Fatalf("%q: got %v, want %s", authorization, err, reason)
		}
		if strings.Contains(err.Error(), "alpha") {
			t.Fatalf("%q: a key is in %q", authorization, err)
		}
	}
	f("Bearer alpha-1", "")
	f("bearer beta.2", "")
	f("Bearer  beta.2 ", "")
	f("", "no_key")
	f("Bearer", "no_key")
	f("Basic alpha-1", "no_key")
	f("alpha-1", "no_key")
	f("Bearer ", "wrong_key")
	f("Bearer alpha-", "wrong_key")
	f("Bearer alpha-11", "wrong_key")
	f("Bearer ALPHA-1", "wrong_key")
	f("Bearer # of the search team", "wrong_key")
	f("Bearer **********", "wrong_key")
}

func TestReload(t *testing.T) {
	path := write(t, "", "old")
	keys, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	f := func(content string, reloads, old, renewed bool) {
		t.Helper()
		write(t, path, content)
		if err := keys.Reload(); (err == nil) != reloads {
			t.Fatalf("%q: reload: %v", content, err)
		}
		for key, want := range map[string]bool{"old": old, "new": renewed} {
			if got := keys.Check([]byte("Bearer "+key)) == nil; got != want {
				t.Fatalf("%q: key %s is taken: %v", content, key, got)
			}
		}
	}
	f("old\nnew", true, true, true)
	f("", false, true, true)
	f("new", true, false, true)
}

func TestLoadRefuses(t *testing.T) {
	f := func(content, mention string) {
		t.Helper()
		if _, err := Load(write(t, "", content)); err == nil || !strings.Contains(err.Error(), mention) {
			t.Fatalf("%q: got %v", content, err)
		}
	}
	f("", "no key")
	f("# only a comment\n\n", "no key")
	f("good\ntwo words", "line 2")
	f("clé", "line 1")
	if _, err := Load(filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("got %v", err)
	}
}
