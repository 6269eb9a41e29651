package telemetry

import (
	"bytes"
	"io"

	"github.com/VictoriaMetrics/metrics"
)

// Write renders everything as Prometheus text. The Tasks' figures are those of their last pong.
func (m *Metrics) Write(w io.Writer) {
	var page bytes.Buffer
	m.set.WritePrometheus(&page)
	metrics.WriteProcessMetrics(&page)
	metrics.WriteFDMetrics(&page)
	page.Write(m.tasks.append(nil))
	w.Write(describe(make([]byte, 0, 2*page.Len()), page.Bytes()))
}

var helpMark = []byte("# HELP ")

// describe gives each family its help text, which the library leaves empty, and leaves out those that have none.
func describe(dst, page []byte) []byte {
	known := false
	for line := range bytes.Lines(page) {
		if family, begins := bytes.CutPrefix(line, helpMark); begins {
			family = bytes.TrimSpace(family)
			var text string
			if text, known = help[string(family)]; known {
				dst = append(append(append(dst, helpMark...), family...), ' ')
				dst = append(append(dst, text...), '\n')
			}
		} else if known {
			dst = append(dst, line...)
		}
	}
	return dst
}
