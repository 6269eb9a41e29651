package generate

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"

	"trtmc-ranking-proxy/bench/workloads"
)

func TestCommittedFilesAreWhatTheGeneratorWrites(t *testing.T) {
	for _, name := range workloads.Names {
		data, err := JSONL(name)
		if err != nil {
			t.Fatal(err)
		}
		committed, err := workloads.Load(name)
		if err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(data)
		if want := "sha256:" + hex.EncodeToString(sum[:]); committed.Digest != want {
			t.Errorf("%s: committed %s, generated %s", name, committed.Digest, want)
		}
	}
}

func TestShapes(t *testing.T) {
	f := func(name string, passages, leastWords, mostWords, meanLow, meanHigh int) {
		t.Helper()
		w, err := workloads.Load(name)
		if err != nil {
			t.Fatal(err)
		}
		words, pairs := 0, 0
		for i, r := range w.Requests {
			if len(r.Passages) != passages {
				t.Errorf("%s request %d has %d passages, want %d", name, i, len(r.Passages), passages)
			}
			seen := map[string]bool{}
			for _, p := range r.Passages {
				n := len(strings.Fields(p))
				if n < leastWords || n > mostWords || seen[p] {
					t.Errorf("%s request %d: passage of %d words, seen before: %t", name, i, n, seen[p])
				}
				seen[p] = true
				words += n
				pairs++
			}
		}
		if mean := words / pairs; mean < meanLow || mean > meanHigh {
			t.Errorf("%s: mean of %d words, want %d to %d", name, mean, meanLow, meanHigh)
		}
	}
	f("W1", 32, 50, 150, 95, 110)
	f("W2", 100, 10, 300, 130, 180)
	f("W3", 4, 40, 40, 40, 40)
	f("W4", 512, 1, 30, 12, 16)
}

func TestReplays(t *testing.T) {
	f := func(name, class string, least, most int) {
		t.Helper()
		w, err := workloads.Load(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := w.Replay(); !ok {
			t.Errorf("%s carries no arrival times", name)
		}
		if w, err = w.Only(class); err != nil {
			t.Fatal(err)
		}
		if n := len(w.Requests); n < least || n > most {
			t.Errorf("%s/%s has %d requests, want %d to %d", name, class, n, least, most)
		}
	}
	f("W5", "", 60, 400)
	f("W6", "long", 9, 10)
	f("W6", "short", 60, 160)
}
