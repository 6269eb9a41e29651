package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// component is one piece of a shipped program.
type component struct {
	name    string
	version string
	purl    string // of https://github.com/package-url
	licence string // an SPDX expression if its source declares one, else empty: told from the texts
	texts   []string
}

// sources are where components come from, each with the flag that names one.
var sources = [...]struct {
	flag, usage string
	read        func(argument string) ([]component, error)
}{
	{"go", "Go `packages` whose modules are built in, and the standard library", goModules},
	{"cargo", "`Cargo.toml` of a crate whose dependencies are built in", crates},
	{"debian", "installed Debian `packages` that are built in or needed", debian},
	{"wheel", "dist-info `folder` of a Python wheel", wheel},
}

// output runs a tool and returns what it prints.
func output(name string, args ...string) (string, error) {
	c := exec.Command(name, args...)
	c.Stderr = os.Stderr
	out, err := c.Output()
	if err != nil {
		err = fmt.Errorf("%s: %w", name, err)
	}
	return string(out), err
}

func goModules(pkg string) ([]component, error) {
	root, err := output("go", "env", "GOROOT", "GOVERSION")
	if err != nil {
		return nil, err
	}
	goroot, version, _ := strings.Cut(strings.TrimSpace(root), "\n")
	version = strings.TrimPrefix(version, "go")
	found := []component{{name: "go-standard-library", version: version, purl: "pkg:golang/std@" + version, texts: texts(goroot)}}

	const format = "{{with .Module}}{{if not .Main}}{{.Path}}\t{{.Version}}\t{{.Dir}}{{end}}{{end}}"
	list, err := output("go", "list", "-deps", "-f", format, pkg)
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{"": true}
	for line := range strings.Lines(list) {
		line = strings.TrimSpace(line)
		if fields := strings.Split(line, "\t"); !seen[line] {
			found = append(found, component{name: fields[0], version: fields[1], purl: "pkg:golang/" + fields[0] + "@" + fields[1], texts: texts(fields[2])})
		}
		seen[line] = true
	}
	return found, nil
}

var hostLine = regexp.MustCompile(`(?m)^host: (.+)$`)

// crates are those of this machine's platform.
func crates(manifest string) ([]component, error) {
	host, err := output("rustc", "-vV")
	if err != nil {
		return nil, err
	}
	platform := hostLine.FindStringSubmatch(host)
	if platform == nil {
		return nil, errors.New("rustc does not name its host")
	}
	out, err := output("cargo", "metadata", "--locked", "--format-version=1", "--filter-platform="+platform[1], "--manifest-path="+manifest)
	if err != nil {
		return nil, err
	}
	var metadata struct {
		Packages []struct {
			Name, Version, License string
			Source                 *string // nil: our own
			ManifestPath           string  `json:"manifest_path"`
		}
	}
	if err := json.Unmarshal([]byte(out), &metadata); err != nil {
		return nil, err
	}
	var found []component
	for _, p := range metadata.Packages {
		if p.Source == nil {
			continue
		}
		found = append(found, component{
			name: p.Name, version: p.Version, purl: "pkg:cargo/" + p.Name + "@" + p.Version,
			licence: strings.ReplaceAll(p.License, "/", " OR "), texts: texts(filepath.Dir(p.ManifestPath)),
		})
	}
	return found, nil
}

func debian(name string) ([]component, error) {
	version, err := output("dpkg-query", "-W", "-f", "${Version}", name)
	if err != nil {
		return nil, err
	}
	text := filepath.Join("/usr/share/doc", name, "copyright")
	return []component{{name: name, version: version, purl: "pkg:deb/debian/" + name + "@" + version, texts: []string{text}}}, nil
}

var headerLine = regexp.MustCompile(`(?m)^(Name|Version|License-Expression): (.+)$`)

func wheel(folder string) ([]component, error) {
	metadata, err := os.ReadFile(filepath.Join(folder, "METADATA"))
	if err != nil {
		return nil, err
	}
	header := map[string]string{}
	for _, line := range headerLine.FindAllStringSubmatch(string(metadata), -1) {
		if _, found := header[line[1]]; !found { // the description behind the header may hold such lines too
			header[line[1]] = strings.TrimSpace(line[2])
		}
	}
	c := component{name: header["Name"], version: header["Version"], licence: header["License-Expression"]}
	c.purl = "pkg:pypi/" + c.name + "@" + c.version
	c.texts = append(texts(filepath.Join(folder, "licenses")), texts(filepath.Join(folder, "licenses", "licensing"))...)
	return []component{c}, nil
}

// isText tells the files that carry a licence or a notice.
var isText = regexp.MustCompile(`(?i)^(licen[cs]e|copying|copyright|notice|unlicense|.*third-party-programs).*`)

func texts(folder string) []string {
	var found []string
	entries, _ := os.ReadDir(folder) // a folder that is not there has none
	for _, entry := range entries {
		if entry.Type().IsRegular() && isText.MatchString(entry.Name()) && filepath.Ext(entry.Name()) != ".go" {
			found = append(found, filepath.Join(folder, entry.Name()))
		}
	}
	return found
}
