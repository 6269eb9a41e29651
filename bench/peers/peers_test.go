package peers

import (
	"encoding/json"
	"net"
	"path/filepath"
	"strings"
	"testing"

	"github.com/valyala/fasthttp"

	"trtmc-ranking-proxy/bench/load"
	"trtmc-ranking-proxy/bench/workloads"
)

// startScorer serves NIM rankings on a Unix socket, with the score that the function gives a query and passage.
func startScorer(t *testing.T, score func(query, passage string, passages int) float64) load.Endpoint {
	t.Helper()
	path := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = fasthttp.Serve(l, func(ctx *fasthttp.RequestCtx) { rank(ctx, score) })
	}()
	t.Cleanup(func() { l.Close(); <-ended })
	e, err := load.NewEndpoint("unix:"+path, "nim", "", "m")
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func rank(ctx *fasthttp.RequestCtx, score func(query, passage string, passages int) float64) {
	type text struct{ Text string }
	var body struct {
		Query    text
		Passages []text
	}
	if err := json.Unmarshal(ctx.PostBody(), &body); err != nil {
		ctx.Error(err.Error(), 400)
		return
	}
	type entry struct {
		Index int     `json:"index"`
		Logit float64 `json:"logit"`
	}
	var rankings []entry
	for i, p := range body.Passages {
		at := 0
		e := entry{i, score(body.Query.Text, p.Text, len(body.Passages))}
		for at < len(rankings) && rankings[at].Logit >= e.Logit {
			at++
		}
		rankings = append(rankings[:at], append([]entry{e}, rankings[at:]...)...)
	}
	answer, _ := json.Marshal(map[string]any{"rankings": rankings}) // numbers and ints: cannot fail
	ctx.SetBody(answer)
}

// references are the true logits by query and passage.
func references(t *testing.T) map[string]float64 {
	t.Helper()
	var all []reference
	if err := json.Unmarshal(referenceFile, &all); err != nil {
		t.Fatal(err)
	}
	logits := map[string]float64{}
	for _, r := range all {
		w, err := workloads.Load(r.Workload)
		if err != nil {
			t.Fatal(err)
		}
		for i, row := range r.Logits {
			for j, logit := range row {
				logits[w.Requests[i].Query+"\x00"+w.Requests[i].Passages[j]] = logit
			}
		}
	}
	return logits
}

func TestCheckTellsTrueScoresFromOthers(t *testing.T) {
	logits := references(t)
	truth := func(query, passage string) float64 { return logits[query+"\x00"+passage] }
	f := func(score func(query, passage string, passages int) float64, lossy bool, verdict string, fromReference, fromAlone float64) {
		t.Helper()
		d, err := Check(startScorer(t, score))
		if err != nil {
			t.Fatal(err)
		}
		near := func(a, b float64) bool { return a-b < 1e-6 && b-a < 1e-6 }
		if d.Verdict(lossy) != verdict || !near(d.FromReference, fromReference) || !near(d.FromAlone, fromAlone) {
			t.Errorf("got %s %+v, want %s, %g, %g", d.Verdict(lossy), d, verdict, fromReference, fromAlone)
		}
	}
	f(func(q, p string, _ int) float64 { return truth(q, p) }, false, "exact", 0, 0)
	f(func(q, p string, _ int) float64 { return truth(q, p) + 0.25 }, false, "wrong", 0.25, 0)
	f(func(q, p string, _ int) float64 { return truth(q, p) + 0.25 }, true, "lossy", 0.25, 0)
	f(func(q, p string, n int) float64 { return truth(q, p) + float64(min(n, 2)-1)/2 }, true, "lossy", 0.5, 0.5)
}

func TestReferenceIsOfTheCommittedWorkloads(t *testing.T) {
	if n := len(references(t)); n != 8*4+32 {
		t.Errorf("%d reference logits, want those of 8 W3 requests and a W1", n)
	}
}

func TestEveryPeerHasAPinnedVersion(t *testing.T) {
	for _, p := range All {
		if p.Package == teiProgram {
			continue
		}
		if v := p.Version(Places{Sources: "."}); !strings.HasPrefix(v, p.Package+" ") {
			t.Errorf("%s: version %q", p.Name, v)
		}
	}
}

func TestAPeerThatIsNotSetUpSaysHow(t *testing.T) {
	for _, p := range All {
		t.Setenv("PATH", t.TempDir())
		if reason := p.Unavailable(Places{Built: t.TempDir()}); !strings.Contains(reason, "setup.sh") && !strings.Contains(reason, "PATH") {
			t.Errorf("%s: %q", p.Name, reason)
		}
	}
}
