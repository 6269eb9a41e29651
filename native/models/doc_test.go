//go:build e2e

// Package models holds the accuracy gates of the served model: the real ranking-task, over a real socket, against logits that the
// transformers library gave in f32 (tests/goldens, made by tools/make_goldens.py).
package models
