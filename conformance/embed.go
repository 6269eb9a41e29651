// Package conformance holds the data of the conformance suite inside the program, so that one binary tests any server.
package conformance

import (
	"embed"
	"io/fs"
)

//go:embed cases/*.yaml vectors/*.json
var files embed.FS

// Cases are the case files, one a theme.
func Cases() fs.FS { return sub("cases") }

// Vectors are the byte vectors of the ranking ipc; conformance/vectors/README.md describes them.
func Vectors() fs.FS { return sub("vectors") }

func sub(dir string) fs.FS {
	tree, err := fs.Sub(files, dir)
	if err != nil {
		panic(err) // only for a malformed constant
	}
	return tree
}
