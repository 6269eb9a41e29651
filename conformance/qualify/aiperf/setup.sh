#!/usr/bin/env bash
# Installs the published AIPerf into VENV, a virtual environment of its own, from the pinned requirements beside this file. A second run does nothing.
# Usage: setup.sh VENV
set -euo pipefail
requirements=$(cd "$(dirname "$0")" && pwd)/requirements.txt
venv=$1
cmp -s "$requirements" "$venv/installed.txt" && exit 0
echo "installing AIPerf (about 1.2 GB, two minutes) ..." >&2
rm -rf "$venv"
python3 -m venv "$venv"
"$venv/bin/pip" install --quiet --disable-pip-version-check --no-deps --requirement "$requirements"
"$venv/bin/pip" check >&2 || { echo "the pinned requirements do not fit together" >&2; exit 1; }
cp "$requirements" "$venv/installed.txt"
