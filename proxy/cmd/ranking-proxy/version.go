package main

import (
	"fmt"
	"io"
	"runtime/debug"
)

// version is set by the linker: -X main.version=...
var version = "dev"

// printVersion shows the version, the commit if the build knew it, and every module built in.
func printVersion(w io.Writer) {
	fmt.Fprintf(w, "ranking-proxy %s\n", version)
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return
	}
	fmt.Fprintln(w, info.GoVersion)
	for _, setting := range info.Settings {
		if setting.Key == "vcs.revision" || setting.Key == "vcs.modified" {
			fmt.Fprintf(w, "%s %s\n", setting.Key, setting.Value)
		}
	}
	for _, module := range info.Deps {
		fmt.Fprintf(w, "%s %s\n", module.Path, module.Version)
	}
}
