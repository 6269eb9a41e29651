//go:build e2e

package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"trtmc-ranking-proxy/conformance/stack"
)

// prometheus is a running one that scrapes a proxy every second.
type prometheus struct{ url string }

func startPrometheus(t *testing.T, target string) *prometheus {
	t.Helper()
	program, err := exec.LookPath("prometheus")
	if err != nil {
		t.Skip("no prometheus here: `native/setup.sh test` installs the package of the distribution")
	}
	dir := t.TempDir()
	config := filepath.Join(dir, "prometheus.yml")
	text := fmt.Sprintf("global: {scrape_interval: 1s, scrape_timeout: 900ms}\nscrape_configs:\n- job_name: ranking\n  static_configs: [{targets: [%q]}]\n",
		strings.TrimPrefix(target, "http://"))
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	address, err := stack.FreeAddress()
	if err != nil {
		t.Fatal(err)
	}
	p, err := stack.StartProcess(dir, "prometheus", program, "--config.file="+config, "--storage.tsdb.path="+filepath.Join(dir, "data"), "--web.listen-address="+address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.Stop(10 * time.Second)
		if t.Failed() {
			t.Logf("prometheus log:\n%s", tail(p.Log()))
		}
	})
	return &prometheus{"http://" + address}
}

// query returns the values of an instant query, one for each series.
func (p *prometheus) query(ctx context.Context, expression string) ([]string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, p.url+"/api/v1/query?query="+url.QueryEscape(expression), nil)
	if err != nil {
		return nil, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	var answer struct {
		Status, Error string
		Data          struct {
			Result []struct{ Value [2]any }
		}
	}
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		return nil, err
	}
	if answer.Status != "success" {
		return nil, fmt.Errorf("%s: %s", expression, answer.Error)
	}
	var values []string
	for _, series := range answer.Data.Result {
		values = append(values, fmt.Sprint(series.Value[1]))
	}
	return values, nil
}

// hasNumber tells whether some series of the query has a value that is a number.
func (p *prometheus) hasNumber(ctx context.Context, expression string) (bool, error) {
	values, err := p.query(ctx, expression)
	for _, value := range values {
		if value != "NaN" {
			return true, nil
		}
	}
	return false, err
}

// dashboardQueries are all queries of the dashboard, with the interval that Grafana would fill in.
func dashboardQueries(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(stack.Root(), "deploy/grafana/dashboard.json"))
	if err != nil {
		t.Fatal(err)
	}
	var dashboard struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	if err := json.Unmarshal(text, &dashboard); err != nil {
		t.Fatal(err)
	}
	var queries []string
	for _, panel := range dashboard.Panels {
		if len(panel.Targets) == 0 {
			t.Errorf("panel %q asks for nothing", panel.Title)
		}
		for _, target := range panel.Targets {
			queries = append(queries, strings.ReplaceAll(target.Expr, "$__rate_interval", "30s"))
		}
	}
	return queries
}

// keepAsking sends good and bad requests until the test ends.
func keepAsking(t *testing.T, url string) {
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan struct{})
	t.Cleanup(func() { stop(); <-done })
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			tryRank(ctx, url, firstRequest)
			tryRank(ctx, url, `{"model":"minilm-l6-rerank"}`)
			time.Sleep(20 * time.Millisecond)
		}
	}()
}

// A real Prometheus takes the page, and each query of the dashboard finds what it asks for.
func TestPrometheusAndDashboard(t *testing.T) {
	s := start(t, defaultModel(t), []string{"--records", filepath.Join(t.TempDir(), "records.jsonl")})
	p := startPrometheus(t, s.URL)
	keepAsking(t, s.URL)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for _, query := range dashboardQueries(t) {
		for {
			found, err := p.hasNumber(ctx, query)
			if found {
				break
			}
			if ctx.Err() != nil {
				t.Fatalf("no series within a minute (%v): %s", err, query)
			}
			time.Sleep(200 * time.Millisecond)
		}
	}
	if up, err := p.query(ctx, `up{job="ranking"}`); err != nil || len(up) != 1 || up[0] != "1" {
		t.Fatalf("up is %v, %v", up, err)
	}
	if types, err := p.query(ctx, `count({__name__=~"ranking_.*"}) > 100`); err != nil || len(types) != 1 {
		t.Fatalf("few series: %v, %v", types, err)
	}
}

func TestPromtoolAcceptsThePage(t *testing.T) {
	promtool, err := exec.LookPath("promtool")
	if err != nil {
		t.Skip("no promtool here: `native/setup.sh test` installs it with prometheus")
	}
	s := start(t, defaultModel(t), nil)
	rank(t, s.URL, firstRequest)
	rank(t, s.URL, "{")
	response, err := http.Get(s.URL + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	page, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	check := exec.Command(promtool, "check", "metrics")
	check.Stdin = bytes.NewReader(page)
	if output, err := check.CombinedOutput(); err != nil || len(output) > 0 {
		t.Fatalf("%v: %s\n%s", err, output, page)
	}
}
