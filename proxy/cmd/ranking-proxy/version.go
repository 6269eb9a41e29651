package main

import (
	"fmt"
	"io"
	"runtime/debug"
)

const version = "0.1.0"

// commit is set by the linker: -X main.commit=...
var commit = "unknown"

// printVersion shows the version, the commit, and the version of every module built in.
func printVersion(w io.Writer) {
	fmt.Fprintf(w, "ranking-proxy %s\ncommit %s\n", version, commit)
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return
	}
	fmt.Fprintln(w, info.GoVersion)
	for _, module := range info.Deps {
		fmt.Fprintf(w, "%s %s\n", module.Path, module.Version)
	}
}
