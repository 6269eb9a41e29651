// Package grafana holds what Grafana reads to its schemas. Grafana itself is not run: see deploy/README.md.
package grafana

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/cog/plugins"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/prometheus"
	"go.yaml.in/yaml/v3"
)

// breaches are what Grafana's own schema, with those of its panels and of Prometheus queries, does not allow.
func breaches(t *testing.T, text []byte) (found []string) {
	t.Helper()
	plugins.RegisterDefaultPlugins()
	found = unknownOrWrong(new(dashboard.Dashboard).UnmarshalJSONStrict(text))
	var board struct {
		Panels []struct{ Targets []json.RawMessage }
	}
	if err := json.Unmarshal(text, &board); err != nil {
		t.Fatal(err)
	}
	for _, panel := range board.Panels {
		for _, target := range panel.Targets {
			found = append(found, unknownOrWrong(new(prometheus.Dataquery).UnmarshalJSONStrict(target))...)
		}
	}
	return found
}

// unknownOrWrong leaves out what a dashboard leaves out: Grafana fills in defaults.
func unknownOrWrong(err error) (found []string) {
	var all cog.BuildErrors
	if err != nil && !errors.As(err, &all) {
		return []string{err.Error()}
	}
	for _, breach := range all {
		if !strings.HasPrefix(breach.Message, "required field is missing") {
			found = append(found, breach.Error())
		}
	}
	return found
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestDashboardKeepsTheSchema(t *testing.T) {
	text := read(t, "dashboard.json")
	for _, breach := range breaches(t, text) {
		t.Error(breach)
	}
	for _, change := range [][2]string{{`"schemaVersion"`, `"schemaVersions"`}, {`"reduceOptions"`, `"reduceOption"`}, {`"expr"`, `"exprs"`}} {
		if wrong := bytes.Replace(text, []byte(change[0]), []byte(change[1]), 1); len(breaches(t, wrong)) == 0 {
			t.Errorf("%s instead of %s passes", change[1], change[0])
		}
	}
}

// Panels stand on a grid of 24 columns and do not overlap; ids and titles are unique.
func TestPanelsAreLaidOut(t *testing.T) {
	var board dashboard.Dashboard
	plugins.RegisterDefaultPlugins()
	if err := json.Unmarshal(read(t, "dashboard.json"), &board); err != nil {
		t.Fatal(err)
	}
	ids, titles, cells := map[uint32]bool{}, map[string]bool{}, map[[2]uint32]string{}
	for _, entry := range board.Panels {
		panel := entry.Panel
		if ids[*panel.Id] || titles[*panel.Title] {
			t.Errorf("panel %d %q: its id or title stands twice", *panel.Id, *panel.Title)
		}
		ids[*panel.Id], titles[*panel.Title] = true, true
		at := panel.GridPos
		if at.X+at.W > 24 {
			t.Errorf("panel %q is wider than the grid", *panel.Title)
		}
		for x := at.X; x < at.X+at.W; x++ {
			for y := at.Y; y < at.Y+at.H; y++ {
				if other, taken := cells[[2]uint32{x, y}]; taken {
					t.Fatalf("panels %q and %q overlap", *panel.Title, other)
				}
				cells[[2]uint32{x, y}] = *panel.Title
			}
		}
	}
}

// strictly decodes YAML into the fields that Grafana documents for provisioning, and no others.
func strictly(t *testing.T, path string, into any) {
	t.Helper()
	decoder := yaml.NewDecoder(bytes.NewReader(read(t, path)))
	decoder.KnownFields(true)
	if err := decoder.Decode(into); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

// What is provisioned is what docker-compose.yml mounts and runs.
func TestProvisioningFitsCompose(t *testing.T) {
	var dashboards struct {
		APIVersion int `yaml:"apiVersion"`
		Providers  []struct {
			Name, Type string
			Options    struct{ Path string }
		}
	}
	strictly(t, "provisioning/dashboards/ranking.yml", &dashboards)
	var sources struct {
		APIVersion  int `yaml:"apiVersion"`
		Datasources []struct {
			Name, UID, Type, Access, URL string
			IsDefault                    bool `yaml:"isDefault"`
		}
	}
	strictly(t, "provisioning/datasources/prometheus.yml", &sources)
	if dashboards.APIVersion != 1 || sources.APIVersion != 1 || len(dashboards.Providers) != 1 || len(sources.Datasources) != 1 {
		t.Fatalf("%+v %+v", dashboards, sources)
	}

	var compose struct {
		Services map[string]struct{ Volumes, Ports []string }
	}
	if err := yaml.Unmarshal(read(t, "../../docker-compose.yml"), &compose); err != nil {
		t.Fatal(err)
	}
	mounts := strings.Join(compose.Services["grafana"].Volumes, "\n")
	for _, mount := range []string{
		"./deploy/grafana/provisioning:/etc/grafana/provisioning:ro",
		"./deploy/grafana/dashboard.json:" + dashboards.Providers[0].Options.Path + "/ranking.json:ro",
	} {
		if !strings.Contains(mounts, mount) {
			t.Errorf("grafana does not mount %s", mount)
		}
	}
	source := sources.Datasources[0]
	ports := strings.Join(compose.Services["prometheus"].Ports, "\n")
	if host, port, _ := strings.Cut(strings.TrimPrefix(source.URL, "http://"), ":"); host != "prometheus" || !strings.HasSuffix(ports, ":"+port) {
		t.Errorf("the data source %s is not the service prometheus with ports %s", source.URL, ports)
	}
	if source.Type != "prometheus" || source.Access != "proxy" || !source.IsDefault {
		t.Errorf("%+v", source)
	}
}
