package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"strings"

	"trtmc-ranking-proxy/bench/nullserver"
)

func nullCommand(ctx context.Context, args []string) error {
	flags := newFlags("null")
	address := flags.String("listen", "127.0.0.1:8001", "HOST:PORT or unix:PATH")
	if err := flags.Parse(args); err != nil {
		return err
	}
	network := "tcp"
	path, isPath := strings.CutPrefix(*address, "unix:")
	if isPath {
		network = "unix"
	}
	l, err := net.Listen(network, path)
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	fmt.Fprintln(os.Stderr, "null server on", l.Addr())
	context.AfterFunc(ctx, func() { l.Close() })
	return nullserver.Serve(l)
}
