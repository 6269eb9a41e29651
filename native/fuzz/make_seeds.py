"""Writes the ipc vectors as seeds for fuzz_frames: make_seeds.py VECTORS_DIR SEEDS_DIR."""

import json
import pathlib
import sys

vectors, seeds = map(pathlib.Path, sys.argv[1:3])
seeds.mkdir(parents=True, exist_ok=True)
for file in sorted(vectors.glob("*.json")):
    for vector in json.loads(file.read_text()):
        frame = bytes.fromhex(vector["hex"])
        if len(frame) <= 4096:  # libFuzzer mutates small inputs best
            (seeds / vector["id"]).write_bytes(b"\x07" + frame)
