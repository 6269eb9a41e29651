// Package qualify carries a checkpoint's inventory entry from implemented to family-validated and aiperf-qualified, with the evidence.
//
// The steps, in order: identity; family correctness on the served bundle; the Task natively against HTTP; the published AIPerf; the accounts of
// every request; the result. A failed gate ends the run. What a step found is kept, so that an interrupted run goes on where it stopped.
package qualify

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"trtmc-ranking-proxy/conformance/inventory"
)

// Options say what to qualify and how. Paths are relative to the root of the repository, which is the working directory.
type Options struct {
	Inventory   string // file
	Entry       inventory.Entry
	Section     string // of the inventory
	RuntimeRoot string // of TRTMC
	Bundle      string // of TRTMC
	Double      bool   // the runtime is the double: nothing is shown about the checkpoint
	Short       bool   // fewer and shorter loads: shows that everything works, and changes no status
	Validate    bool   // leave out AIPerf: family-validated at most
	Fresh       bool   // do not go on where an interrupted run stopped
	AIPerf      string // the program
	Build       string // directory for state and logs
	Results     string // directory of results
	Progress    io.Writer
}

// taskArgs are the arguments of ranking-task for the entry.
func (o *Options) taskArgs() ([]string, error) {
	e := &o.Entry
	switch e.Backend {
	case "openvino":
		// Any depth of queue: load levels are closed loops, which wait for what they get, however slow the machine.
		return []string{"--task", "openvino", "--queue-seconds", "0", "--model", e.Profile}, nil
	case "trtmc":
		if o.RuntimeRoot == "" || o.Bundle == "" {
			return nil, errors.New("a TRTMC entry needs --runtime-root and --bundle")
		}
		args := []string{"--task", "trtmc", "--runtime-root", o.RuntimeRoot, "--bundle", o.Bundle, "--trtmc-model", e.Name}
		if o.Double {
			return args, nil
		}
		// The ABI reports neither revision nor precision, so these are the operator's word; the digest says which bundle it was.
		return append(args, "--trtmc-revision", e.Revision, "--trtmc-precision", e.Precision), nil
	}
	return nil, fmt.Errorf("%s: no way is known to serve the backend %q", e.Name, e.Backend)
}

// bundle is the model directory or bundle file that the digest is of: a tree and the name in it.
func (o *Options) bundle(root fs.FS) (fs.FS, string) {
	switch {
	case o.Entry.Backend != "trtmc":
		return root, o.Entry.Profile
	case filepath.IsAbs(o.Bundle):
		return os.DirFS(filepath.Dir(o.Bundle)), filepath.Base(o.Bundle)
	}
	return root, path.Clean(filepath.ToSlash(o.Bundle))
}

// shown is arguments as a result shows them: of a path outside the repository only the last part, since the rest is of one machine.
func shown(args []string) string {
	words := slices.Clone(args)
	for i, word := range words {
		if filepath.IsAbs(word) {
			words[i] = filepath.Base(word)
		}
	}
	return strings.Join(words, " ")
}

// mode names the kind of run.
func (o *Options) mode() string {
	mode := "full"
	if o.Short {
		mode = "short"
	}
	if o.Validate {
		mode += ", validation only"
	}
	return mode
}

// reproduce is the command that does the same again.
func (o *Options) reproduce() string {
	words := []string{"make qualify MODEL=" + o.Entry.Name}
	if o.Short {
		words = append(words, "QUALIFY_FLAGS=--short")
	}
	if o.Entry.Backend == "trtmc" && !o.Double {
		words = append(words, "RUNTIME_ROOT=DIR", "BUNDLE=FILE")
	}
	return strings.Join(words, " ")
}
