#!/usr/bin/env bash
# Makes what the peers need below OUT: a virtual environment for each requirements file and the model in the forms they load. A second run does
# nothing. Downloads about 5 GB and takes about 12 GB of disk, nearly all of it the CUDA packages that torch from PyPI depends on.
# Usage: setup.sh MODEL_DIR OUT
set -euo pipefail
model=$(realpath "$1")
mkdir -p "$2/venv"
out=$(realpath "$2")
here=$(cd "$(dirname "$0")" && pwd)

for name in lanes infinity; do
  requirements=$here/requirements-$name.txt
  venv=$out/venv/$name
  if ! cmp -s "$requirements" "$venv/installed.txt"; then
    echo "installing $requirements (several GB) ..." >&2
    python3 -m venv "$venv"
    "$venv/bin/pip" install --quiet --no-deps --requirement "$requirements"
    cp "$requirements" "$venv/installed.txt"
  fi
done

if [ ! -e "$out/onnx/model-int8.onnx" ]; then
  echo "exporting the model to ONNX ..." >&2
  "$out/venv/lanes/bin/python" "$here/servers/export_onnx.py" "$model" "$out/onnx" 2>"$out/export.log" >&2 ||
    { cat "$out/export.log" >&2; exit 1; }
fi

# text-embeddings-inference loads onnx/model.onnx of a model directory.
for form in f32:model.onnx int8:model-int8.onnx; do
  dir=$out/tei-${form%%:*}
  mkdir -p "$dir/onnx"
  cp "$model"/{config.json,tokenizer.json,tokenizer_config.json,special_tokens_map.json} "$dir/"
  ln -sf "$out/onnx/${form#*:}" "$dir/onnx/model.onnx"
done
