package inventory

import (
	"errors"
	"fmt"
	"io/fs"
	"reflect"
	"regexp"
	"strings"

	"trtmc-ranking-proxy/conformance/qualify/evidence"
	"trtmc-ranking-proxy/conformance/qualify/identity"
)

var (
	digestForm = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)
	commitForm = regexp.MustCompile(`^[0-9a-f]{40}$`)
	dateForm   = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}$`)
)

// Verify checks the inventory against root, the root of the repository. Every entry must have the evidence of its status and say what it
// lacks; the error lists all that is wrong.
func (i *Inventory) Verify(root fs.FS) error {
	problems := i.verifyBaselines()
	if len(i.RankingGroup) == 0 {
		problems = append(problems, errors.New("the ranking group is empty"))
	}
	seen := map[string]bool{}
	for _, section := range i.Sections() {
		for _, entry := range section.Entries {
			if entry.Name == "" || seen[entry.Name] {
				problems = append(problems, fmt.Errorf("%s %q: no name, or one used twice", section.Name, entry.Name))
			}
			seen[entry.Name] = true
			problems = append(problems, i.verifyEntry(root, section.Name, &entry)...)
		}
	}
	for _, out := range i.AuditedOut {
		if len(out.Names) == 0 || out.Declares == "" || out.Reason == "" {
			problems = append(problems, fmt.Errorf("audited out %v: needs names, the declared task and a reason", out.Names))
		}
	}
	return errors.Join(problems...)
}

func (i *Inventory) verifyBaselines() []error {
	var problems []error
	if !dateForm.MatchString(i.Refreshed) {
		problems = append(problems, fmt.Errorf("refreshed %q is not a date", i.Refreshed))
	}
	for _, b := range i.Baselines {
		if !commitForm.MatchString(b.Commit) && b.Version == "" || !dateForm.MatchString(b.Read) {
			problems = append(problems, fmt.Errorf("baseline %q: needs a commit or a version, and the date it was read", b.What))
		}
	}
	if len(i.Baselines) == 0 {
		problems = append(problems, errors.New("there are no baselines"))
	}
	return problems
}

func (i *Inventory) verifyEntry(root fs.FS, section string, e *Entry) []error {
	var problems []error
	report := func(format string, args ...any) {
		problems = append(problems, fmt.Errorf("%s: "+format, append([]any{e.Name}, args...)...))
	}
	if e.Checkpoint == "" || e.Revision == "" || e.Profile == "" || e.Family == "" || e.NativeTask == "" || e.Controls == "" {
		report("needs checkpoint, revision, profile, family, native_task and controls")
	}
	if section == "variant" && !i.inRankingGroup(e.Of) {
		report("is a variant of %q, which is not in the ranking group", e.Of)
	}
	if e.Status != AIPerfQualified && len(e.Gaps) == 0 {
		report("is %s and names no gap", e.Status)
	}
	if err := e.verifyStatus(root); err != nil {
		report("is not %s: %w", e.Status, err)
	}
	return problems
}

func (i *Inventory) inRankingGroup(name string) bool {
	for _, entry := range i.RankingGroup {
		if entry.Name == name {
			return true
		}
	}
	return false
}

func (e *Entry) verifyStatus(root fs.FS) error {
	switch e.Status {
	case Planned:
		return nil
	case Implemented:
		return e.verifyEvidence(root)
	case FamilyValidated, AIPerfQualified:
		return errors.Join(e.verifyEvidence(root), e.verifyResult(root))
	}
	return errors.New("there is no such status")
}

func (e *Entry) verifyEvidence(root fs.FS) error {
	if len(e.Evidence) == 0 {
		return errors.New("there is no evidence")
	}
	for _, evidence := range e.Evidence {
		if evidence.Claim == "" || len(evidence.Files) == 0 {
			return errors.New("a piece of evidence has no claim or no files")
		}
		for _, name := range evidence.Files {
			info, err := fs.Stat(root, name)
			if err != nil {
				return fmt.Errorf("evidence: %w", err)
			}
			if !info.Mode().IsRegular() || info.Size() == 0 {
				return fmt.Errorf("evidence %s is not a file with something in it", name)
			}
		}
	}
	return nil
}

func (e *Entry) verifyResult(root fs.FS) error {
	if !strings.HasPrefix(e.Result, "bench/results/"+e.Name+"/") || !strings.HasSuffix(e.Result, "/result.json") {
		return fmt.Errorf("result %q is not a bench/results/%s/<date>/result.json", e.Result, e.Name)
	}
	result, err := evidence.Verify(root, e.Result)
	if err != nil {
		return fmt.Errorf("%s: %w", e.Result, err)
	}
	if err := e.provedBy(result); err != nil {
		return fmt.Errorf("%s: %w", e.Result, err)
	}
	return e.verifyBundle(root)
}

// Promised is what the entry says of the checkpoint, for comparison with what is served.
func (e *Entry) Promised() *identity.Promised {
	return &identity.Promised{
		NativeTask: e.NativeTask, Revision: e.Revision, Family: e.Family, Backend: e.Backend, Precision: e.Precision,
		MaxSequenceLength: e.MaxSequenceLength,
	}
}

// provedBy checks that a result is of this entry's bundle, by the family's gates unchanged, and carries the entry's status. A qualified bundle
// is validated as well.
func (e *Entry) provedBy(r *evidence.Result) error {
	if r.Entry != e.Name {
		return fmt.Errorf("is of %q", r.Entry)
	}
	if r.Status != string(e.Status) && r.Status != string(AIPerfQualified) {
		return fmt.Errorf("reached %s only", r.Status)
	}
	if !digestForm.MatchString(e.BundleDigest) || r.BundleDigest != e.BundleDigest {
		return fmt.Errorf("is of the bundle %q, the inventory names %q", r.BundleDigest, e.BundleDigest)
	}
	if differences := r.Identity.Differences(e.Promised()); len(differences) > 0 {
		return errors.New(strings.Join(differences, "; "))
	}
	if !reflect.DeepEqual(r.Criteria, e.Gates) {
		return errors.New("was judged by other gates than the inventory names")
	}
	return nil
}

// verifyBundle checks that the bundle in the tree is still the one that was qualified. Bundles that are not part of the tree are named by their
// digest alone.
func (e *Entry) verifyBundle(root fs.FS) error {
	if !fs.ValidPath(e.Profile) {
		return nil
	}
	if _, err := fs.Stat(root, e.Profile); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	digest, _, err := identity.HashBundle(root, e.Profile)
	if err == nil && digest != e.BundleDigest {
		err = fmt.Errorf("%s is now %s: qualify it again", e.Profile, digest)
	}
	return err
}
