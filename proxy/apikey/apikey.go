// Package apikey checks the Bearer key of a request against a file of keys.
//
// The file has one key a line; empty lines and lines that begin with # are skipped. Only digests of the keys are kept, and a key is
// compared with each of them in constant time, so that neither memory nor timing tells a key.
package apikey

import (
	"bytes"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"os"
	"sync/atomic"

	"trtmc-ranking-proxy/proxy/ranking"
)

type digest = [sha256.Size]byte

// Keys are the keys of a file. They are safe for concurrent use.
type Keys struct {
	path    string
	digests atomic.Pointer[[]digest]
}

// Load reads the keys of a file. It fails if there is none.
func Load(path string) (*Keys, error) {
	k := &Keys{path: path}
	return k, k.Reload()
}

// Reload reads the file again. On failure the keys stay as they were.
func (k *Keys) Reload() error {
	content, err := os.ReadFile(k.path)
	if err != nil {
		return fmt.Errorf("read API keys: %w", err)
	}
	digests, err := parse(content)
	if err != nil {
		return fmt.Errorf("read API keys from %s: %w", k.path, err)
	}
	k.digests.Store(&digests)
	return nil
}

func parse(content []byte) ([]digest, error) {
	var digests []digest
	for i, line := range bytes.Split(content, []byte("\n")) {
		key := bytes.TrimSpace(line)
		if len(key) == 0 || key[0] == '#' {
			continue
		}
		if bytes.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r > '~' }) {
			return nil, fmt.Errorf("line %d: a key must be printable ASCII without spaces", i+1)
		}
		digests = append(digests, sha256.Sum256(key))
	}
	if len(digests) == 0 {
		return nil, errors.New("there is no key in it")
	}
	return digests, nil
}

// Check takes the value of an Authorization header. The error, if any, is a [*ranking.Error].
func (k *Keys) Check(authorization []byte) error {
	const scheme = "Bearer "
	if len(authorization) < len(scheme) || !bytes.EqualFold(authorization[:len(scheme)], []byte(scheme)) {
		return unauthorized("no_key", "an API key is needed")
	}
	presented := sha256.Sum256(bytes.TrimSpace(authorization[len(scheme):]))
	match := 0
	for _, known := range *k.digests.Load() {
		match |= subtle.ConstantTimeCompare(presented[:], known[:])
	}
	if match == 0 {
		return unauthorized("wrong_key", "the API key is not known here")
	}
	return nil
}

func unauthorized(reason, message string) error {
	return &ranking.Error{Kind: ranking.Unauthorized, Reason: reason, Message: message, Detail: "send it as Authorization: Bearer KEY"}
}
