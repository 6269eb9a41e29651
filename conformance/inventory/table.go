package inventory

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// Table writes one line an entry, with its gaps below it, and what was left out last.
func (i *Inventory) Table(w io.Writer) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "SECTION\tENTRY\tSTATUS\tFAMILY\tBACKEND\tTASK\tREVISION\tEVIDENCE")
	for _, section := range i.Sections() {
		for _, e := range section.Entries {
			fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\t%.12s\t%s\n",
				section.Name, e.Name, e.Status, e.Family, e.Backend, e.NativeTask, e.Revision, e.evidenceSummary())
		}
	}
	for _, out := range i.AuditedOut {
		fmt.Fprintf(table, "audited, out\t%s\t-\t%s\t-\t%s\t-\t-\n", abbreviated(out.Names), out.Family, out.Declares)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	return i.notes(w)
}

func (i *Inventory) notes(w io.Writer) error {
	var notes strings.Builder
	for _, section := range i.Sections() {
		for _, e := range section.Entries {
			for _, gap := range e.Gaps {
				fmt.Fprintf(&notes, "\ngap of %s: %s", e.Name, gap)
			}
		}
	}
	for _, out := range i.AuditedOut {
		fmt.Fprintf(&notes, "\nout: %s: %s", strings.Join(out.Names, ", "), out.Reason)
	}
	_, err := fmt.Fprintf(w, "%s\n\nrefreshed %s\n", notes.String(), i.Refreshed)
	return err
}

func (e *Entry) evidenceSummary() string {
	files := 0
	for _, evidence := range e.Evidence {
		files += len(evidence.Files)
	}
	switch {
	case e.Result != "":
		return e.Result
	case files == 0:
		return "none"
	}
	return fmt.Sprintf("%d claims, %d files", len(e.Evidence), files)
}

func abbreviated(names []string) string {
	if len(names) > 2 {
		return fmt.Sprintf("%s, %s, %d more", names[0], names[1], len(names)-2)
	}
	return strings.Join(names, ", ")
}
