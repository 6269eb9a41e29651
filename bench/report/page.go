package report

import (
	_ "embed"
	"fmt"
	"html/template"
	"os"
	"path/filepath"
	"strings"
)

// Page is a report of sections that is written as Markdown with pictures beside it and as one HTML file.
type Page struct {
	Title    string
	Lines    []string // under the title: date, machine, command
	Sections []Section
}

// Section has text, a table or a plot, or several of them, in this order.
type Section struct {
	Heading string
	Text    string
	Table   *Table
	Plot    *Plot
}

// Write writes name.md, name.html and the plots as SVG into dir.
func (p *Page) Write(dir, name string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("make directory of the report: %w", err)
	}
	pictures := make([]string, len(p.Sections)) // SVG source by section
	for i, s := range p.Sections {
		if s.Plot == nil {
			continue
		}
		svg, err := s.Plot.SVG()
		if err != nil {
			return fmt.Errorf("draw %s: %w", s.Heading, err)
		}
		pictures[i] = svg
		if err := os.WriteFile(filepath.Join(dir, picture(name, i)), []byte(svg), 0o644); err != nil {
			return fmt.Errorf("write plot: %w", err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, name+".md"), []byte(p.markdown(name)), 0o644); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return p.writeHTML(filepath.Join(dir, name+".html"), pictures)
}

func picture(name string, section int) string { return fmt.Sprintf("%s-%d.svg", name, section+1) }

func (p *Page) markdown(name string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n", p.Title)
	for _, line := range p.Lines {
		fmt.Fprintf(&b, "* %s\n", line)
	}
	for i, s := range p.Sections {
		fmt.Fprintf(&b, "\n## %s\n\n", s.Heading)
		if s.Text != "" {
			fmt.Fprintf(&b, "%s\n\n", s.Text)
		}
		if s.Table != nil {
			_ = s.Table.WriteMarkdown(&b) // a strings.Builder takes everything
		}
		if s.Plot != nil {
			fmt.Fprintf(&b, "![%s](%s)\n", s.Heading, picture(name, i))
		}
	}
	return b.String()
}

//go:embed page.html
var pageSource string

var pageTemplate = template.Must(template.New("page").Parse(pageSource))

func (p *Page) writeHTML(path string, pictures []string) error {
	type section struct {
		Section
		Picture template.HTML
	}
	data := struct {
		Title    string
		Lines    []string
		Sections []section
	}{Title: p.Title, Lines: p.Lines}
	for i, s := range p.Sections {
		data.Sections = append(data.Sections, section{Section: s, Picture: template.HTML(pictures[i])})
	}
	f, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	defer f.Close()
	if err := pageTemplate.Execute(f, data); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return f.Close()
}
