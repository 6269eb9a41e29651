package agreement

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
)

// Reference is queries with their passages and the scores that the reference implementation gave them.
type Reference struct {
	Path    string // of the scores
	Digest  string // SHA-256 of the scores' file
	Queries []Query
	Scores  [][]float32
}

// Query is one ranking without its scores.
type Query struct {
	Text     string
	Passages []string
}

type referenceScores struct {
	Texts       string      `json:"texts"` // file beside it
	TextsSHA256 string      `json:"texts_sha256"`
	Logits      [][]float32 `json:"logits"`
}

type referenceTexts struct {
	Passages []string `json:"passages"`
	Queries  []struct {
		Query    string `json:"query"`
		Passages []int  `json:"passages"`
	} `json:"queries"`
}

// ReadReference reads recorded scores (native/tests/goldens/README.md) and the texts they were recorded for. Scores of other texts are refused.
func ReadReference(root fs.FS, name string) (*Reference, error) {
	data, err := fs.ReadFile(root, name)
	if err != nil {
		return nil, fmt.Errorf("read reference scores: %w", err)
	}
	var scores referenceScores
	if err := json.Unmarshal(data, &scores); err != nil {
		return nil, fmt.Errorf("parse %s: %w", name, err)
	}
	textsFile := path.Join(path.Dir(name), scores.Texts)
	raw, err := fs.ReadFile(root, textsFile)
	if err != nil {
		return nil, fmt.Errorf("read texts of the reference: %w", err)
	}
	if got := hexSHA256(raw); got != scores.TextsSHA256 {
		return nil, fmt.Errorf("%s was recorded for other texts than %s holds", name, textsFile)
	}
	r := &Reference{Path: name, Digest: "sha256:" + hexSHA256(data), Scores: scores.Logits}
	if err := r.addQueries(raw); err != nil {
		return nil, fmt.Errorf("%s: %w", textsFile, err)
	}
	return r, nil
}

func (r *Reference) addQueries(raw []byte) error {
	var texts referenceTexts
	if err := json.Unmarshal(raw, &texts); err != nil {
		return fmt.Errorf("parse: %w", err)
	}
	if len(texts.Queries) != len(r.Scores) {
		return fmt.Errorf("%d queries, and scores of %d", len(texts.Queries), len(r.Scores))
	}
	for i, q := range texts.Queries {
		query := Query{Text: q.Query}
		for _, at := range q.Passages {
			if at < 0 || at >= len(texts.Passages) {
				return fmt.Errorf("query %d: there is no passage %d", i, at)
			}
			query.Passages = append(query.Passages, texts.Passages[at])
		}
		r.Queries = append(r.Queries, query)
	}
	return nil
}

func hexSHA256(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
