package report

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"strings"
	"testing"
)

func TestErrFailsOnWhatWasNotExpected(t *testing.T) {
	f := func(want string, results ...Result) {
		t.Helper()
		err := (&Run{Results: results}).Err()
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Fatalf("got %v, want %q", err, want)
		}
	}
	f("", Result{Status: Passed})
	f("", Result{Status: Passed}, Result{Status: Failed, Known: true}, Result{Status: NotRun})
	f("1 cases failed", Result{Status: Passed}, Result{Status: Failed})
	f("1 known-failing cases passed", Result{Status: Passed, Known: true})
	f("no case was run (1 not run)", Result{Status: NotRun})
	f("no case was run (0 not run)")
}

func TestReadKnownRefusesUnknownNames(t *testing.T) {
	f := func(text, wantErr string, want int) {
		t.Helper()
		known, err := ReadKnown(strings.NewReader(text), []string{"a-case", "b-case"})
		if wantErr != "" {
			if err == nil || !strings.Contains(err.Error(), wantErr) {
				t.Fatalf("got %v, want %q", err, wantErr)
			}
			return
		}
		if err != nil || len(known) != want {
			t.Fatalf("got %v, %v", known, err)
		}
	}
	f("", "", 0)
	f("# all\na-case # their issue 3\n\n", "", 1)
	f("a-case\nb-case\n", "", 2)
	f("c-case", `line 1: no case is named "c-case"`, 0)
}

func TestEveryFormTellsEveryOutcome(t *testing.T) {
	run := &Run{Target: "x", Results: []Result{
		{Theme: "t", Case: "good", Status: Passed},
		{Theme: "t", Case: "bad", Status: Failed, Problems: []string{"status 500 <&>"}},
		{Theme: "t", Case: "old", Status: Failed, Known: true, Problems: []string{"as ever"}},
		{Theme: "t", Case: "healed", Status: Passed, Known: true},
		{Theme: "t", Case: "idle", Status: NotRun, Problems: []string{"needs start"}},
	}}
	var table, structured, junit bytes.Buffer
	for _, err := range []error{run.Table(&table), run.JSON(&structured), run.JUnit(&junit)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if !strings.HasSuffix(table.String(), "\n1 passed, 2 failed, 1 skipped\n") {
		t.Fatalf("the table ends wrong:\n%s", table.String())
	}
	var back Run
	if err := json.Unmarshal(structured.Bytes(), &back); err != nil || len(back.Results) != 5 {
		t.Fatalf("JSON does not read back: %v", err)
	}
	var parsed junitSuite
	if err := xml.Unmarshal(junit.Bytes(), &parsed); err != nil {
		t.Fatal(err)
	}
	if parsed.Failures != 2 || parsed.Skipped != 2 || parsed.Cases[1].Failure.Message != "status 500 <&>" {
		t.Fatalf("JUnit: %+v", parsed)
	}
}
