package inventory

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"trtmc-ranking-proxy/conformance/qualify/evidence"
)

// Promote gives the entry of a result the status that the result proves, in the file at path below root, and leaves every other line as it is.
// The file is replaced only if all of it verifies afterwards.
func Promote(root, path string, r *evidence.Result, resultPath string) error {
	file := filepath.Join(root, path)
	before, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("promote %s: %w", r.Entry, err)
	}
	after, err := promoted(string(before), r, resultPath)
	if err != nil {
		return fmt.Errorf("promote %s: %w", r.Entry, err)
	}
	draft := file + ".new"
	if err := os.WriteFile(draft, []byte(after), 0o644); err != nil {
		return fmt.Errorf("promote %s: %w", r.Entry, err)
	}
	defer os.Remove(draft) // gone already if all is well
	changed, err := Load(draft)
	if err == nil {
		err = changed.Verify(os.DirFS(root))
	}
	if err != nil {
		return fmt.Errorf("promote %s: the inventory would not verify: %w", r.Entry, err)
	}
	return os.Rename(draft, file)
}

// member is a line "    key: value" of an entry, with the deeper lines that belong to it.
func member(key string) *regexp.Regexp {
	return regexp.MustCompile(`(?m)^    ` + key + `:.*\n(      .*\n)*`)
}

// promoted edits the text rather than the tree, which would lose blank lines and the author's line breaks.
func promoted(text string, r *evidence.Result, resultPath string) (string, error) {
	start, end, err := entryLines(text, r.Entry)
	if err != nil {
		return "", err
	}
	entry := text[start:end]
	for _, key := range []string{"bundle_digest", "result", "gaps"} {
		entry = member(key).ReplaceAllString(entry, "")
	}
	status := member("status")
	if !status.MatchString(entry) {
		return "", errors.New("the entry has no status")
	}
	entry = status.ReplaceAllLiteralString(entry, fmt.Sprintf("    status: %s\n    bundle_digest: %s\n    result: %s\n", r.Status, r.BundleDigest, resultPath))
	body := strings.TrimRight(entry, "\n")
	if len(r.Gaps) > 0 {
		body += "\n    gaps:"
		for _, gap := range r.Gaps {
			body += fmt.Sprintf("\n      - %q", gap)
		}
	}
	return text[:start] + body + entry[len(strings.TrimRight(entry, "\n")):] + text[end:], nil
}

// entryLines finds the lines of an entry: from its "  - entry:" to the next line that is less indented than its members.
func entryLines(text, name string) (start, end int, err error) {
	head := regexp.MustCompile(`(?m)^  - entry: ` + regexp.QuoteMeta(name) + `\n`).FindStringIndex(text)
	if head == nil {
		return 0, 0, errors.New("there is no such entry")
	}
	next := regexp.MustCompile(`(?m)^ {0,3}\S`).FindStringIndex(text[head[1]:])
	if next == nil {
		return head[0], len(text), nil
	}
	return head[0], head[1] + next[0], nil
}
