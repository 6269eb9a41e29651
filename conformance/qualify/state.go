package qualify

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// state keeps what each step found, so that an interrupted run can go on. It belongs to one fingerprint: of another bundle, program, dataset or
// plan nothing is kept.
type state struct {
	dir     string
	resumed bool
}

const fingerprintFile = "fingerprint"

// openState opens dir for whatever basis says the run depends on, and empties it if it was of another run or fresh is asked for.
func openState(dir string, fresh bool, basis any) (*state, error) {
	data, err := json.Marshal(basis)
	if err != nil {
		return nil, fmt.Errorf("state of the run: %w", err)
	}
	sum := sha256.Sum256(data)
	want := hex.EncodeToString(sum[:])
	found, err := os.ReadFile(filepath.Join(dir, fingerprintFile))
	if err == nil && string(found) == want && !fresh {
		return &state{dir, true}, nil
	}
	if err := os.RemoveAll(dir); err != nil {
		return nil, fmt.Errorf("state of the run: %w", err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("state of the run: %w", err)
	}
	return &state{dir, false}, os.WriteFile(filepath.Join(dir, fingerprintFile), []byte(want), 0o644)
}

// finish forgets the steps, so that the next run starts clean. Logs and exports stay until then.
func (s *state) finish() error { return os.Remove(filepath.Join(s.dir, fingerprintFile)) }

// once returns what step found when it last succeeded, or runs it and keeps what it finds.
func once[T any](s *state, name string, step func() (T, error)) (found T, err error) {
	file := filepath.Join(s.dir, name+".json")
	data, err := os.ReadFile(file)
	if err == nil {
		return found, json.Unmarshal(data, &found)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return found, fmt.Errorf("state of %s: %w", name, err)
	}
	if found, err = step(); err != nil {
		return found, err
	}
	if data, err = json.Marshal(found); err != nil {
		return found, fmt.Errorf("state of %s: %w", name, err)
	}
	if err := os.WriteFile(file+".new", data, 0o644); err != nil {
		return found, fmt.Errorf("state of %s: %w", name, err)
	}
	return found, os.Rename(file+".new", file)
}
