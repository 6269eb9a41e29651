// Package page is the page at / on which a person tries rankings by hand. It is embedded and loads nothing from elsewhere.
package page

import "embed"

//go:embed index.html page.css page.js
var files embed.FS

// File is one file of the page.
type File struct {
	Path        string // at which it is served
	ContentType string
	Body        []byte
}

// Policy is the Content-Security-Policy of every file: nothing but the page's own script and style runs, and it calls its own server only.
const Policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// Files lists the files of the page.
func Files() []File {
	return []File{
		{"/", "text/html; charset=utf-8", read("index.html")},
		{"/page.css", "text/css; charset=utf-8", read("page.css")},
		{"/page.js", "text/javascript; charset=utf-8", read("page.js")},
	}
}

func read(name string) []byte {
	body, err := files.ReadFile(name)
	if err != nil {
		panic(err) // the compiler has put it there
	}
	return body
}
