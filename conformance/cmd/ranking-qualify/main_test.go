package main

import (
	"errors"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

func TestCommandLine(t *testing.T) {
	const file = "--inventory=../../inventory.yaml"
	f := func(problem string, args ...string) {
		t.Helper()
		if err := execute(t.Context(), append(args, file)); err == nil || !strings.Contains(err.Error(), problem) {
			t.Errorf("%v: got %v, want %q", args, err, problem)
		}
	}
	f(`no entry "x"`, "--entry", "x")
	f(`no entry ""`)
	f("unknown flag", "--fast")
	f("no such file", "--entry", "m", "--inventory", "gone.yaml", "--")
	if _, err := parse([]string{"--help"}); !errors.Is(err, pflag.ErrHelp) {
		t.Errorf("--help: %v", err)
	}
}

func TestEntriesAreFoundWithTheirSection(t *testing.T) {
	f := func(entry, section, backend string) {
		t.Helper()
		o, err := parse([]string{"--entry", entry, "--inventory=../../inventory.yaml", "--short"})
		if err != nil || o.Section != section || o.Entry.Backend != backend || !o.Short || o.Double {
			t.Errorf("%s: %v %+v", entry, err, o)
		}
	}
	f("minilm-l6-rerank", "stand-in", "openvino")
	f("nemotron-rerank-vl-1b-v2", "ranking group", "trtmc")
}
