#!/usr/bin/env bash
# What settings of the Go runtime change for the proxy, before a null Task each. Build first (make build), on a machine that does nothing else.
#   bench/go-runtime.sh [ROUNDS]
set -euo pipefail
ROUNDS=${1:-3} WINDOW=${WINDOW:-1s} WARM_UP=${WARM_UP:-300ms} CELLS=${CELLS:-W3:1 W1:1 W3:64}
SETTINGS=${SETTINGS:-GOMAXPROCS=1 GOMAXPROCS=2 GOGC=50 GOGC=200 GOGC=400}
source "$(dirname "$0")/in-turn.sh"

for setting in default=default $SETTINGS; do
  start "$TASK" --task null --socket "$dir/$setting.sock" --log-level error
  proxy "${setting%=default}" "$setting" "$dir/$setting.sock"
done
measure
