package ranking

import (
	"fmt"
	"strconv"
	"strings"
)

// check refuses what no Task should see, in the order in which a person would mend it.
func (r *Ranker) check(req *Request) error {
	if blank(req.Query) {
		return Invalid("blank_query", "the query is empty or only white space", "")
	}
	if r.tooLarge(req.Query) {
		return r.refuseSize("the query", len(req.Query))
	}
	if err := r.checkCount(len(req.Passages)); err != nil {
		return err
	}
	if err := r.checkPassages(req.Passages); err != nil {
		return err
	}
	return r.CheckModel(req.Model)
}

func (r *Ranker) checkPassages(passages []string) error {
	for i, passage := range passages {
		if blank(passage) {
			return Invalid("blank_passage", nth(i)+" is empty or only white space", "")
		}
		if r.tooLarge(passage) {
			return r.refuseSize(nth(i), len(passage))
		}
	}
	return nil
}

func nth(i int) string { return "passage " + strconv.Itoa(i) + " (counted from 0)" }

func (r *Ranker) tooLarge(text string) bool {
	return r.limits.PassageBytes > 0 && len(text) > r.limits.PassageBytes
}

func (r *Ranker) refuseSize(what string, n int) error {
	return &Error{
		Kind: PayloadTooLarge, Reason: "text_bytes",
		Message: fmt.Sprintf("%s has %d bytes, more than the maximum of %d", what, n, r.limits.PassageBytes),
	}
}

func (r *Ranker) checkCount(n int) error {
	if n == 0 {
		return Invalid("no_passages", "there are no passages to rank", "")
	}
	limit := r.MaxPassages()
	if n <= limit {
		return nil
	}
	return Invalid("too_many_passages", fmt.Sprintf("%d passages are more than the maximum of %d", n, limit),
		"split the request; the same request will always be refused")
}

// MaxPassages is the passage cap now in force: the Ranker's own, or the Task's if that is lower.
func (r *Ranker) MaxPassages() int {
	if task := r.backend.Identity(); task != nil && int(task.MaxPassages) < r.limits.Passages {
		return int(task.MaxPassages)
	}
	return r.limits.Passages
}

// CheckModel tells whether model is a name of the served one, or empty. It lets every name pass while no Task has ever said what it
// serves: the request will fail as unavailable.
func (r *Ranker) CheckModel(model string) error {
	task := r.backend.Identity()
	if model == "" || task == nil {
		return nil
	}
	if name := canonical(model); name == canonical(task.Model) || r.aliases[name] {
		return nil
	}
	return &Error{
		Kind: ModelNotFound, Reason: "unknown_model", Message: "the model asked for is not served here",
		Detail: "this server has " + strconv.Quote(task.Model),
	}
}

// canonical makes `_` and `.` equal, because litellm and NIM's hosted form write one for the other.
func canonical(model string) string { return strings.ReplaceAll(model, "_", ".") }

func blank(text string) bool { return strings.TrimSpace(text) == "" }
