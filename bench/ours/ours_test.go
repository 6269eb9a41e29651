package ours

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestParseVariant(t *testing.T) {
	f := func(text, name, args string) {
		t.Helper()
		v, err := ParseVariant(text)
		if (err == nil) != (name != "") || v.Name != name || strings.Join(v.TaskArgs, " ") != args {
			t.Errorf("%q: %+v, %v", text, v, err)
		}
	}
	f("null=--task null", "null", "--task null")
	f("int8=--task openvino  --model m=1", "int8", "--task openvino --model m=1")
	f("null", "", "")
	f("=--task null", "", "")
	f("null= ", "", "")
}

func TestAllDefaultsParse(t *testing.T) {
	for _, text := range Defaults() {
		if _, err := ParseVariant(text); err != nil {
			t.Error(err)
		}
	}
}

// A Task that ends at once must end the wait, and its own words must be in the error.
func TestStartSaysWhyTheTaskEnded(t *testing.T) {
	dir := t.TempDir()
	program := filepath.Join(dir, "task")
	if err := os.WriteFile(program, []byte("#!/bin/sh\necho no such model >&2\nexit 3\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	sleeper := filepath.Join(dir, "proxy")
	if err := os.WriteFile(sleeper, []byte("#!/bin/sh\nexec sleep 60\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("RANKING_TASK_PROGRAM", program)
	t.Setenv("RANKING_PROXY_PROGRAM", sleeper)
	_, err := Variant{Name: "x"}.Start(context.Background(), dir)
	if err == nil || !strings.Contains(err.Error(), "ended with 3") || !strings.Contains(err.Error(), "no such model") {
		t.Errorf("got %v", err)
	}
}
