package main

import (
	"context"
	"fmt"

	"trtmc-ranking-proxy/bench/workloads"
	"trtmc-ranking-proxy/bench/workloads/generate"
)

func workloadsCommand(_ context.Context, args []string) error {
	flags := newFlags("workloads")
	dir := flags.String("write", "", "directory to write them into; empty: print the digests of the built-in ones")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *dir != "" {
		return generate.WriteAll(*dir)
	}
	for _, name := range workloads.Names {
		w, err := workloads.Load(name)
		if err != nil {
			return err
		}
		fmt.Printf("%s  %3d requests  %s\n", name, len(w.Requests), w.Digest)
	}
	return nil
}
