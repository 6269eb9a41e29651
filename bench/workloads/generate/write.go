package generate

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"

	"trtmc-ranking-proxy/bench/workloads"
)

// WriteAll writes every built-in workload into dir as NAME.jsonl.gz.
func WriteAll(dir string) error {
	for _, name := range workloads.Names {
		data, err := JSONL(name)
		if err != nil {
			return err
		}
		var b bytes.Buffer
		z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
		if err != nil {
			return fmt.Errorf("compress workload %s: %w", name, err)
		}
		z.Write(data) // a bytes.Buffer takes everything
		if err := z.Close(); err != nil {
			return fmt.Errorf("compress workload %s: %w", name, err)
		}
		if err := os.WriteFile(filepath.Join(dir, name+".jsonl.gz"), b.Bytes(), 0o644); err != nil {
			return fmt.Errorf("write workload %s: %w", name, err)
		}
	}
	return nil
}
