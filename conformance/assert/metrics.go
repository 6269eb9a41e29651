package assert

import (
	"bufio"
	"bytes"
	"fmt"
	"slices"
	"strings"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// exposition parses Prometheus text with Prometheus's own parser and demands HELP and TYPE for every family: AIPerf, for one, drops
// samples that no TYPE line names.
func exposition(body []byte) (found []string) {
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(bytes.NewReader(body))
	if err != nil {
		return []string{fmt.Sprintf("not Prometheus text: %v", err)}
	}
	if len(families) == 0 {
		return []string{"no metrics at all"}
	}
	helped := named(body, "# HELP ")
	typed := named(body, "# TYPE ")
	for name, family := range families {
		if !slices.Contains(typed, name) || family.GetType() == dto.MetricType_UNTYPED {
			found = append(found, fmt.Sprintf("metric %s has no TYPE", name))
		}
		if !slices.Contains(helped, name) {
			found = append(found, fmt.Sprintf("metric %s has no HELP", name))
		}
	}
	return found
}

func named(body []byte, prefix string) (names []string) {
	lines := bufio.NewScanner(bytes.NewReader(body))
	lines.Buffer(nil, len(body)+1)
	for lines.Scan() {
		if rest, ok := strings.CutPrefix(lines.Text(), prefix); ok {
			name, _, _ := strings.Cut(rest, " ")
			names = append(names, name)
		}
	}
	return names
}
