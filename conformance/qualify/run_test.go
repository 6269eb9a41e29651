package qualify

import (
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"trtmc-ranking-proxy/conformance/inventory"
	"trtmc-ranking-proxy/conformance/qualify/accounting"
	"trtmc-ranking-proxy/conformance/qualify/gate"
)

func standIn() Options {
	return Options{
		Entry:   inventory.Entry{Name: "m", Backend: "openvino", Profile: "native/models/m", Reference: "native/tests/goldens/quality/own.logits.json"},
		Section: "stand-in", Results: "bench/results", Progress: io.Discard,
	}
}

func TestNoPathOfAMachineIsShown(t *testing.T) {
	if got := shown([]string{"--bundle", "/srv/models/x.bundle", "--model", "native/models/m"}); got != "--bundle x.bundle --model native/models/m" {
		t.Errorf("got %q", got)
	}
	o := Options{Entry: inventory.Entry{Backend: "trtmc"}, Bundle: "/srv/models/x.bundle"}
	if _, name := o.bundle(nil); name != "x.bundle" {
		t.Errorf("the bundle is called %q", name)
	}
}

// What a run can prove at best, whatever its gates say.
func TestStatusReached(t *testing.T) {
	f := func(name string, want inventory.Status, loads int, change func(*Options)) {
		t.Helper()
		o := standIn()
		change(&o)
		r, err := prepare(o)
		if err != nil {
			t.Fatal(err)
		}
		r.result.Accounts = make([]accounting.Account, loads)
		if got := r.reached(); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	trtmc := func(o *Options) { o.Entry.Backend, o.RuntimeRoot, o.Bundle = "trtmc", "root", "bundle" }
	f("full", inventory.AIPerfQualified, 6, func(*Options) {})
	f("validation only", inventory.FamilyValidated, 0, func(o *Options) { o.Validate = true })
	f("short", inventory.Implemented, 3, func(o *Options) { o.Short = true })
	f("no reference", inventory.Implemented, 6, func(o *Options) { o.Entry.Reference = "" })
	f("TRTMC", inventory.AIPerfQualified, 6, trtmc)
	f("a double", inventory.Implemented, 6, func(o *Options) { trtmc(o); o.Double = true })
}

func TestPrepareRefuses(t *testing.T) {
	f := func(problem string, change func(*Options)) {
		t.Helper()
		o := standIn()
		change(&o)
		if _, err := prepare(o); err == nil || !strings.Contains(err.Error(), problem) {
			t.Errorf("got %v, want %q", err, problem)
		}
	}
	f("would lower it", func(o *Options) { o.Validate, o.Entry.Status = true, inventory.AIPerfQualified })
	f("no way is known", func(o *Options) { o.Entry.Backend = "null" })
	f("--runtime-root", func(o *Options) { o.Entry.Backend = "trtmc" })
	f("read reference scores", func(o *Options) { o.Entry.Reference = "native/tests/goldens/quality/gone.json" })
}

func TestAMissingReferenceIsAGap(t *testing.T) {
	o := standIn()
	o.Entry.Reference = ""
	r, err := prepare(o)
	if err != nil || len(r.result.Gaps) != 1 || !strings.Contains(r.result.Gaps[0], "no reference scores") {
		t.Errorf("%v: %v", err, r.result.Gaps)
	}
	if err := r.validate(t.Context(), nil); err != nil || len(r.result.Gates) != 0 {
		t.Errorf("%v: gates %v", err, r.result.Gates)
	}
}

func TestFailedGatesAreListed(t *testing.T) {
	findings := make([]accounting.Finding, 30)
	findings[0] = accounting.Finding{ID: "id-7", Problem: "not in the records"}
	err := judge([]gate.Gate{gate.None("s", "good", 0), gate.None("s", "unmatched ids", 30)}, findings)
	var failed *GateError
	if !errors.As(err, &failed) || len(failed.Failed) != 1 {
		t.Fatalf("got %v", err)
	}
	for _, want := range []string{"gates failed: 1", "s: unmatched ids: want 0, measured 30", "id-7: not in the records", "and 10 more"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("no %q in %s", want, err)
		}
	}
	if err := judge([]gate.Gate{gate.None("s", "good", 0)}, nil); err != nil {
		t.Error(err)
	}
}

func TestEveryLoadCoversTheDataset(t *testing.T) {
	r, err := prepare(standIn())
	if err != nil {
		t.Fatal(err)
	}
	loads := r.closedLoads()
	if len(loads) < 4 {
		t.Errorf("%d closed loops", len(loads))
	}
	for _, load := range loads {
		if load.Requests < len(r.texts.Cases) || load.Warmup == 0 {
			t.Errorf("%+v for %d cases", load, len(r.texts.Cases))
		}
	}
}

func TestConstantLoadIsAShareOfTheBest(t *testing.T) {
	r, err := prepare(standIn())
	if err != nil {
		t.Fatal(err)
	}
	f := func(want float64, rates ...float64) {
		t.Helper()
		r.result.Figures = nil
		for _, rate := range rates {
			r.result.Figures = append(r.result.Figures, accounting.Figures{RequestsPerS: rate})
		}
		load, err := r.constantLoad()
		if load.Rate != want || load.Concurrency != 0 || (err == nil) != (want > 0) {
			t.Errorf("best of %v: %+v, %v, want %v", rates, load, err, want)
		}
	}
	f(7.4, 5, 12.3456, 9)
	f(0.12, 0.2)
	f(0, 0)
}

func TestTheDatasetIsAskedInItsOrder(t *testing.T) {
	r, err := prepare(standIn())
	if err != nil {
		t.Fatal(err)
	}
	requests := r.datasetRequests()
	if len(requests) != len(r.texts.Cases) || requests[9].Query != r.texts.Cases[9].Query {
		t.Errorf("%d requests", len(requests))
	}
	if _, err := os.Stat("../../" + tokenizerFile); err != nil {
		t.Error(err)
	}
}
