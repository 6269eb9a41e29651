package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

func describe(t *testing.T) (out string, bom cdx.BOM) {
	t.Helper()
	out = t.TempDir()
	if err := run([]string{"--name=x", "--version=1", "--out=" + out, "--go=trtmc-ranking-proxy/deploy/sbom"}); err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(filepath.Join(out, "sbom.cdx.json"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if err := cdx.NewBOMDecoder(file, cdx.BOMFileFormatJSON).Decode(&bom); err != nil {
		t.Fatal(err)
	}
	return out, bom
}

// This command's own modules serve as the case.
func TestEveryModuleIsListedWithItsLicence(t *testing.T) {
	out, bom := describe(t)
	found := map[string]cdx.Component{}
	for _, c := range *bom.Components {
		found[c.Name] = c
		texts, _ := os.ReadDir(filepath.Join(out, "licences", folderName(component{name: c.Name, version: c.Version})))
		if len(texts) == 0 {
			t.Errorf("%s has no licence text", c.Name)
		}
	}
	f := func(name, licence string) {
		t.Helper()
		c, ok := found[name]
		if !ok || c.Version == "" || c.Licenses == nil || (*c.Licenses)[0].Expression != licence {
			t.Fatalf("%s: %+v", name, c)
		}
	}
	f("go-standard-library", "BSD-3-Clause")
	f("github.com/CycloneDX/cyclonedx-go", "Apache-2.0")
	f("github.com/google/licensecheck", "BSD-3-Clause")
	f("github.com/spf13/pflag", "BSD-3-Clause")
}

func TestTheSameInputGivesTheSameBytes(t *testing.T) {
	first, _ := describe(t)
	second, _ := describe(t)
	a, _ := os.ReadFile(filepath.Join(first, "sbom.cdx.json"))
	b, _ := os.ReadFile(filepath.Join(second, "sbom.cdx.json"))
	if len(a) == 0 || !bytes.Equal(a, b) {
		t.Fatal("two runs differ")
	}
}

func TestWheel(t *testing.T) {
	folder := t.TempDir()
	os.Mkdir(filepath.Join(folder, "licenses"), 0o755)
	os.WriteFile(filepath.Join(folder, "licenses", "LICENSE"), []byte("terms"), 0o644)
	os.WriteFile(filepath.Join(folder, "METADATA"), []byte("Name: wheel\nVersion: 1.2\nLicense-Expression: MIT\n\nAbout it\nVersion: 9\n"), 0o644)
	found, err := wheel(folder)
	if err != nil || len(found) != 1 || found[0].purl != "pkg:pypi/wheel@1.2" || found[0].licence != "MIT" || len(found[0].texts) != 1 {
		t.Fatalf("%+v, %v", found, err)
	}
}

func TestMistakes(t *testing.T) {
	f := func(args ...string) {
		t.Helper()
		if err := run(args); err == nil {
			t.Fatalf("%v: no error", args)
		}
	}
	f("--name=x")
	f("--name=x", "--out="+t.TempDir(), "--go=./not-there")
	f("--name=x", "--out="+t.TempDir(), "--wheel=/not-there")
}
