package qualify

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"

	"trtmc-ranking-proxy/conformance/inventory"
	"trtmc-ranking-proxy/conformance/qualify/accounting"
	"trtmc-ranking-proxy/conformance/qualify/evidence"
	"trtmc-ranking-proxy/conformance/qualify/identity"
	"trtmc-ranking-proxy/conformance/qualify/page"
	"trtmc-ranking-proxy/conformance/stack"
)

// benchReadme holds the table of results.
const benchReadme = "bench/README.md"

// conclude writes the result, checks it as CI will, and moves the status of the entry if the result proves another.
func (r *run) conclude(context.Context) error {
	if now, err := r.hashPrograms(); err != nil || !slices.Equal(now, r.programs) {
		return errors.Join(errors.New("a program was built anew during the run, so its parts do not belong together; run it again"), err)
	}
	dir := r.resultDir()
	r.result.Status = string(r.reached())
	if r.result.Status == string(inventory.Implemented) && r.Short && !r.Double {
		r.gap("a short run, which shows that everything works and changes no status")
	}
	if err := r.write(dir); err != nil {
		return err
	}
	name := path.Join(filepath.ToSlash(dir), evidence.ResultFile)
	if _, err := evidence.Verify(os.DirFS(dir), evidence.ResultFile); err != nil {
		return fmt.Errorf("%s does not verify: %w", name, err)
	}
	r.say("  %s: %s, and it verifies", name, r.result.Status)
	if r.Short {
		return nil
	}
	if err := page.UpdateTable(r.root, stack.Root(), filepath.ToSlash(r.Results), benchReadme); err != nil {
		return err
	}
	if r.result.Status == string(inventory.Implemented) {
		return nil // nothing that an inventory names a result for
	}
	return inventory.Promote(stack.Root(), r.Inventory, r.result, name)
}

// write writes the evidence first, then the result that names it, then the page.
func (r *run) write(dir string) error {
	if err := os.RemoveAll(dir); err != nil { // of an earlier run on the same day
		return fmt.Errorf("write the result: %w", err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("write the result: %w", err)
	}
	var packed bytes.Buffer
	if err := accounting.WriteRequests(&packed, r.requests); err != nil {
		return err
	}
	answers := evidence.Answers{}
	for i := range r.cases {
		answers.Scores = append(answers.Scores, r.cases[i].Native.Scores)
	}
	listed, err := json.Marshal(&answers)
	if err != nil {
		return fmt.Errorf("write the result: %w", err)
	}
	for name, content := range map[string][]byte{evidence.RequestsFile: packed.Bytes(), evidence.AnswersFile: listed} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o644); err != nil {
			return fmt.Errorf("write the result: %w", err)
		}
	}
	if err := r.nameFiles(os.DirFS(dir)); err != nil {
		return err
	}
	data, err := json.MarshalIndent(r.result, "", " ")
	if err != nil {
		return fmt.Errorf("write the result: %w", err)
	}
	if err := os.WriteFile(filepath.Join(dir, evidence.ResultFile), append(data, '\n'), 0o644); err != nil {
		return fmt.Errorf("write the result: %w", err)
	}
	return page.Write(dir, r.result, r.requests)
}

func (r *run) nameFiles(dir fs.FS) error {
	r.result.Files = nil
	for _, name := range []string{evidence.AnswersFile, evidence.RequestsFile} {
		file, err := identity.HashFile(dir, name)
		if err != nil {
			return err
		}
		r.result.Files = append(r.result.Files, file)
	}
	return nil
}
