package summary

import (
	_ "embed"
	"html/template"
	"io"
)

//go:embed page.html
var pageText string

var page = template.Must(template.New("page").Parse(pageText))

// WriteHTML writes one page that needs nothing else: no script, no font, no network.
func (s *Summary) WriteHTML(w io.Writer) error {
	pictures, err := s.pictures()
	if err != nil {
		return err
	}
	r := s.report()
	return page.Execute(w, struct {
		Lines          []string
		Counts, Clocks table
		Pictures       []picture
	}{r.heading(), r.counts(), r.clocks(), pictures})
}
