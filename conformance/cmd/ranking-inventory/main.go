// Command ranking-inventory prints the inventory of ranking checkpoints as a table, and fails on a status whose evidence does not verify.
//
//	ranking-inventory [--root DIR] [--file PATH]
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"trtmc-ranking-proxy/conformance/inventory"
)

func main() {
	root := flag.String("root", ".", "root of the repository, where evidence is looked for")
	file := flag.String("file", "conformance/inventory.yaml", "the inventory, relative to the root")
	flag.Parse()
	if err := execute(os.Stdout, *root, *file); err != nil {
		fmt.Fprintln(os.Stderr, "ranking-inventory:", err)
		os.Exit(1)
	}
}

func execute(w io.Writer, root, file string) error {
	entries, err := inventory.Load(filepath.Join(root, file))
	if err != nil {
		return err
	}
	if err := entries.Table(w); err != nil {
		return err
	}
	return entries.Verify(os.DirFS(root))
}
