#!/usr/bin/env bash
# Installs what building and testing this project lacks on Debian 12+ or Ubuntu 24.04+:
#   distribution packages  through apt-get, as root or with sudo
#   Rust, Go               from the distribution where new enough, else rustup or Go's own toolchain switching
#   OpenVINO               the pinned wheel, unpacked into .deps/openvino
# Safe to run again: what is there is kept. What cannot be installed is named, with how to get it, and the exit status is 1.
#   native/setup.sh [build|task|test]     task leaves out Go, test adds what only the tests need
set -euo pipefail
cd "$(dirname "$0")/.."
DEPS=$PWD/.deps
RUST_MINIMUM=1.85
GO_MINIMUM=1.21 # the first that fetches the toolchain named in go.mod
BUILD_PACKAGES=(ca-certificates curl git make cmake ninja-build g++ pkg-config python3 python3-pip python3-venv
  libmsgpack-cxx-dev libboost-dev libspdlog-dev libfmt-dev libcli11-dev libasio-dev nlohmann-json3-dev libssl-dev)
TEST_PACKAGES=(libgtest-dev libgmock-dev clang-format valgrind xz-utils prometheus clang libclang-rt-dev python3-venv)

BENCH_PACKAGES=(nginx-light)

say() { printf 'setup: %s\n' "$*" >&2; }
missing=()
lacks() { missing+=("$1"); }

as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"; else sudo -n "$@"; fi
}

can_be_root() { [ "$(id -u)" = 0 ] || sudo -n true 2>/dev/null; }

# installed PACKAGE: whether dpkg has it.
installed() { [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]; }

apt_update_once() {
  if [ -z "${APT_UPDATED:-}" ]; then as_root apt-get update -qq >&2; APT_UPDATED=1; fi
}

# Services that come with a package are not started: policy-rc.d is how Debian is told so.
apt_install() {
  local policy=/usr/sbin/policy-rc.d ours=
  apt_update_once
  if [ ! -e "$policy" ]; then
    ours=yes
    printf '#!/bin/sh\nexit 101\n' | as_root install -m 755 /dev/stdin "$policy"
  fi
  local status=0
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -yqq --no-install-recommends -o DPkg::Lock::Timeout=300 "$@" >&2 || status=$?
  if [ -n "$ours" ]; then as_root rm -f "$policy"; fi
  return "$status"
}

packages() {
  local wanted=() package
  for package in "$@"; do installed "$package" || wanted+=("$package"); done
  [ ${#wanted[@]} -gt 0 ] || return 0
  if ! command -v apt-get >/dev/null || ! can_be_root; then
    lacks "packages: ${wanted[*]} (Debian names; install them with your package manager, or run this once as root)"
    return 0
  fi
  say "installing ${wanted[*]}"
  apt_install "${wanted[@]}" || lacks "packages: ${wanted[*]} (apt-get could not install them)"
}

# at_least VERSION MINIMUM
at_least() { [ "$(printf '%s\n%s\n' "$2" "$1" | sort -V | sed -n 1p)" = "$2" ]; }

rust_ok() { command -v cargo >/dev/null && at_least "$(rustc --version 2>/dev/null | cut -d' ' -f2)" "$RUST_MINIMUM"; }

# Debian keeps a current Rust as rustc-web beside the release's own; Ubuntu has rustup, or numbered packages.
rust() {
  if rust_ok; then return 0; fi
  if can_be_root && command -v apt-get >/dev/null; then
    say "installing Rust $RUST_MINIMUM or newer"
    apt_install rustc-web cargo-web 2>/dev/null ||
      { apt_install rustup && rustup default stable >&2; } ||
      { apt_install rustc cargo; } || true
  fi
  rust_ok || lacks "Rust $RUST_MINIMUM or newer: see https://rustup.rs"
}

# Comes with rustup; the distributions pack it apart from the compiler.
rust_lint() {
  local can_lint='cargo fmt --version && cargo clippy --version'
  if bash -c "$can_lint" >/dev/null 2>&1; then return 0; fi
  if can_be_root && command -v apt-get >/dev/null; then
    apt_install rustfmt-web rust-web-clippy 2>/dev/null || apt_install rustfmt rust-clippy || true
  fi
  bash -c "$can_lint" >/dev/null 2>&1 || lacks "rustfmt and clippy: rustup component add rustfmt clippy"
}

go_version() { go env GOVERSION 2>/dev/null | sed 's/^go//'; }
go_ok() { command -v go >/dev/null && at_least "$(cd / && go_version)" "$GO_MINIMUM"; }

# A Go older than 1.21 cannot switch toolchains, but it can download the module that later ones switch to.
go_toolchain() {
  local wanted version platform module=golang.org/toolchain
  wanted=$(sed -n 's/^go //p' go.mod)
  platform="$(go env GOOS)-$(go env GOARCH)"
  version="v0.0.1-go$wanted.$platform"
  say "fetching Go $wanted"
  (cd / && GOFLAGS=-mod=mod GO111MODULE=on go mod download "$module@$version")
  rm -rf "$DEPS/go"
  cp -r "$(go env GOMODCACHE)/$module@$version" "$DEPS/go"
  chmod -R u+w "$DEPS/go"
  chmod -R +x "$DEPS/go/bin" "$DEPS/go/pkg/tool"
}

go_language() {
  if [ -x "$DEPS/go/bin/go" ] || go_ok; then return 0; fi
  if can_be_root && command -v apt-get >/dev/null; then
    command -v go >/dev/null || apt_install golang-go || true
    go_ok || go_toolchain || true
  fi
  [ -x "$DEPS/go/bin/go" ] || go_ok || lacks "Go $GO_MINIMUM or newer: see https://go.dev/dl"
}

# Only the machine's architecture matters: the wheel is used for its C++ headers and libraries, never imported.
openvino() {
  local stamp=$DEPS/openvino/.hash want tag
  want=$(sha256sum native/openvino.txt | cut -d' ' -f1)
  [ "$(cat "$stamp" 2>/dev/null)" != "$want" ] || return 0
  case $(uname -m) in
    x86_64) tag=manylinux_2_28_x86_64 ;;
    aarch64) tag=manylinux_2_35_aarch64 ;;
    *) lacks "OpenVINO for $(uname -m): build it from source and set OpenVINO_DIR"; return 0 ;;
  esac
  say 'unpacking the OpenVINO wheel into .deps/openvino'
  rm -rf "$DEPS/openvino"
  python3 -m pip install -q --disable-pip-version-check --no-deps --require-hashes --only-binary=:all: --python-version 3.11 \
    --implementation cp --platform "$tag" --target "$DEPS/openvino" -r native/openvino.txt >&2 &&
    echo "$want" >"$stamp" || lacks "OpenVINO: pip could not fetch the wheel named in native/openvino.txt"
}

# The f32 form of the default model is made by a script, for its accuracy test.
python_tools() {
  local wanted="openvino==2026.4.1 numpy==2.4.6"
  [ "$(cat "$DEPS/python/.wanted" 2>/dev/null)" != "$wanted" ] || return 0
  say 'making a Python environment in .deps/python'
  # shellcheck disable=SC2086 # two words
  { python3 -m venv --clear "$DEPS/python" && "$DEPS/python/bin/pip" install -q --disable-pip-version-check $wanted >&2 &&
    echo "$wanted" >"$DEPS/python/.wanted"; } || lacks 'a Python environment with openvino and numpy in .deps/python'
}

mkdir -p "$DEPS"
packages "${BUILD_PACKAGES[@]}"
case ${1:-build} in
  test)
    packages "${TEST_PACKAGES[@]}"
    # Ubuntu has Chromium as a snap only; without it the tests of the page are skipped, and say so.
    if apt-cache show chromium >/dev/null 2>&1; then packages chromium; fi
    ;;
  bench) packages "${TEST_PACKAGES[@]}" "${BENCH_PACKAGES[@]}" ;;
esac
rust
if [ "${1:-build}" != task ]; then go_language; fi
openvino
case ${1:-build} in test | bench) python_tools; rust_lint ;; esac
if [ ${#missing[@]} -gt 0 ]; then
  say 'cannot go on; missing:'
  printf '  - %s\n' "${missing[@]}" >&2
  exit 1
fi
