#!/usr/bin/env bash
# Installs the client NAME, as pinned in requirements/NAME.txt, into VENV, a virtual environment of its own. A second run does nothing.
# Usage: setup.sh NAME VENV
set -euo pipefail
requirements=$(cd "$(dirname "$0")" && pwd)/requirements/$1.txt
venv=$2
cmp -s "$requirements" "$venv/installed.txt" && exit 0
rm -rf "$venv"
python3 -m venv "$venv"
"$venv/bin/pip" install --quiet --disable-pip-version-check --no-compile --no-deps --requirement "$requirements"
"$venv/bin/pip" check >&2 || { echo "the pinned requirements do not fit together" >&2; exit 1; }
cp "$requirements" "$venv/installed.txt"
