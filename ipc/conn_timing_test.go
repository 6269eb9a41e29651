package ipc_test

import (
	"context"
	"testing"

	"trtmc-ranking-proxy/ipc"
	"trtmc-ranking-proxy/ipc/ipctest"
)

// BenchmarkRank is a round trip of 10 short passages, Task's end in Go included.
func BenchmarkRank(b *testing.B) {
	c := dialBench(b)
	r := benchRank()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.Rank(context.Background(), r); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRankParallel(b *testing.B) {
	c := dialBench(b)
	b.SetParallelism(16)
	b.RunParallel(func(pb *testing.PB) {
		for r := benchRank(); pb.Next(); {
			if _, err := c.Rank(context.Background(), r); err != nil {
				b.Error(err)
				return
			}
		}
	})
}

func dialBench(b *testing.B) *ipc.Conn {
	task := ipctest.Start(b, ipctest.Options{})
	c, err := ipc.Dial(context.Background(), task.Address, "bench 1.0")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { c.Close() })
	return c
}

func benchRank() *ipc.Rank {
	r := &ipc.Rank{ID: "bench", Query: "frames on a socket", Truncate: ipc.TruncateEnd}
	for range 10 {
		r.Passages = append(r.Passages, "a frame has a header and a payload")
	}
	return r
}
