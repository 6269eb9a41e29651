package identity

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
)

// File is a file with its digest.
type File struct {
	Path   string `json:"path"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// HashFile reads a file below root.
func HashFile(root fs.FS, name string) (File, error) {
	f, err := root.Open(name)
	if err != nil {
		return File{}, fmt.Errorf("hash: %w", err)
	}
	defer f.Close()
	hash := sha256.New()
	n, err := io.Copy(hash, f)
	if err != nil {
		return File{}, fmt.Errorf("hash %s: %w", name, err)
	}
	return File{name, n, hex.EncodeToString(hash.Sum(nil))}, nil
}

// served are the files of a model directory that its digest covers (native/src/openvino/README.md).
var served = []string{"card.json", "model.bin", "model.onnx", "model.xml", "tokenizer.json"}

// HashBundle computes anew what the Task reports as bundle_digest: of a model directory the SHA-256 over "<hex>  <name>\n" of its served files
// in the order of their names, of a bundle file its SHA-256.
func HashBundle(root fs.FS, name string) (digest string, files []File, err error) {
	info, err := fs.Stat(root, name)
	if err != nil {
		return "", nil, fmt.Errorf("hash the bundle: %w", err)
	}
	if !info.IsDir() {
		file, err := HashFile(root, name)
		return "sha256:" + file.SHA256, []File{file}, err
	}
	entries, err := fs.ReadDir(root, name)
	if err != nil {
		return "", nil, fmt.Errorf("hash the bundle: %w", err)
	}
	hash := sha256.New()
	for _, entry := range entries { // sorted by name
		if !slices.Contains(served, entry.Name()) {
			continue
		}
		file, err := HashFile(root, path.Join(name, entry.Name()))
		if err != nil {
			return "", nil, err
		}
		fmt.Fprintf(hash, "%s  %s\n", file.SHA256, entry.Name())
		files = append(files, file)
	}
	if len(files) == 0 {
		return "", nil, fmt.Errorf("%s holds no model", name)
	}
	return "sha256:" + hex.EncodeToString(hash.Sum(nil)), files, nil
}
