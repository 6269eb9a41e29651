#!/bin/bash
# Checks where our dependencies come from, and against known vulnerabilities as far as that can be done here. Pins and hashes are checked
# without a network; the databases of vulnerabilities are not, and what cannot be reached is named.
set -euo pipefail
cd "$(dirname "$0")/.."
govulncheck=golang.org/x/vuln/cmd/govulncheck@v1.9.0
skipped=0
skip() { echo "NOT CHECKED: $1" >&2; skipped=$((skipped + 1)); }

echo "== Go modules are those of go.sum"
go mod verify

echo "== Rust crates are those of Cargo.lock"
cargo metadata --locked --format-version 1 --manifest-path native/tokenizer/Cargo.toml >/dev/null
echo "locked: $(grep -c '^checksum' native/tokenizer/Cargo.lock) crates with checksums"

echo "== the one wheel that is shipped is pinned by hash"
pins=$(grep -c '==' native/openvino.txt)
hashes=$(grep -c -- '--hash=sha256:[0-9a-f]\{64\}' native/openvino.txt)
[ "$pins" = 1 ] && [ "$hashes" -ge 1 ] || { echo "native/openvino.txt: $pins pins, $hashes hashes" >&2; exit 1; }
grep -q -- --require-hashes native/setup.sh || { echo "native/setup.sh does not ask pip for hashes" >&2; exit 1; }

echo "== known vulnerabilities"
if curl -fs -m 10 -o /dev/null https://vuln.go.dev/index/db.json; then
  go run "$govulncheck" ./...
else
  skip "Go modules: vuln.go.dev cannot be reached"
fi
if ! command -v cargo-audit >/dev/null; then
  skip "Rust crates: cargo-audit is not installed (cargo install cargo-audit)"
elif ! cargo audit --file native/tokenizer/Cargo.lock; then
  exit 1
fi
echo "audit done, $skipped not checked"
