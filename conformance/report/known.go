package report

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"
)

// ReadKnown reads a known-failing file: a case name a line, and behind # why it fails. A name that no case has is an error, so that the
// file cannot go stale unseen.
func ReadKnown(r io.Reader, cases []string) (map[string]bool, error) {
	known := map[string]bool{}
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		text, _, _ := strings.Cut(lines.Text(), "#")
		name := strings.TrimSpace(text)
		if name == "" {
			continue
		}
		if !slices.Contains(cases, name) {
			return nil, fmt.Errorf("known-failing line %d: no case is named %q", n, name)
		}
		known[name] = true
	}
	return known, lines.Err()
}
