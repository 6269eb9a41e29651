package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	cdx "github.com/CycloneDX/cyclonedx-go" // the format's own library
	"github.com/google/licensecheck"        // tells a licence from its text
)

// write makes out/sbom.cdx.json and out/licences/NAME-VERSION/FILE.
func write(out, name, version string, components []component) error {
	slices.SortFunc(components, func(a, b component) int { return strings.Compare(a.purl, b.purl) })
	bom := cdx.NewBOM()
	bom.Metadata = &cdx.Metadata{Component: &cdx.Component{
		Type: cdx.ComponentTypeApplication, Name: name, Version: version, Licenses: licences("Apache-2.0"),
	}}
	var list []cdx.Component
	for _, c := range components {
		ids, err := c.copyTexts(filepath.Join(out, "licences", folderName(c)))
		if err != nil {
			return err
		}
		if c.licence != "" {
			ids = c.licence
		}
		list = append(list, cdx.Component{
			BOMRef: c.purl, Type: cdx.ComponentTypeLibrary, Name: c.name, Version: c.version, PackageURL: c.purl, Licenses: licences(ids),
		})
	}
	bom.Components = &list
	file, err := os.Create(filepath.Join(out, "sbom.cdx.json"))
	if err != nil {
		return err
	}
	defer file.Close()
	return cdx.NewBOMEncoder(file, cdx.BOMFileFormatJSON).SetPretty(true).Encode(bom)
}

func licences(expression string) *cdx.Licenses {
	if expression == "" {
		return nil
	}
	return &cdx.Licenses{{Expression: expression}}
}

func folderName(c component) string { return strings.ReplaceAll(c.name, "/", "_") + "-" + c.version }

// copyTexts copies the licence texts into folder. Returns what they are, as an SPDX expression; empty if that cannot be told.
func (c component) copyTexts(folder string) (ids string, err error) {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return "", err
	}
	var found []string
	for _, path := range c.texts {
		text, err := os.ReadFile(path)
		if err != nil {
			return "", fmt.Errorf("licence of %s: %w", c.name, err)
		}
		for _, match := range licensecheck.Scan(text).Match {
			found = append(found, match.ID)
		}
		if err := os.WriteFile(filepath.Join(folder, filepath.Base(path)), text, 0o644); err != nil {
			return "", err
		}
	}
	slices.Sort(found)
	return strings.Join(slices.Compact(found), " AND "), nil
}
