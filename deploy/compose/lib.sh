# Sourced by test.sh: what all of its steps use.

say() { printf 'test-compose: %s\n' "$*" >&2; }
die() { say "FAILED: $*"; compose logs --no-color --tail 40 >&2 || true; exit 1; }
# By label: compose knows no service whose profile is not asked for.
container() {
  docker ps -aq --filter "label=com.docker.compose.project=$COMPOSE_PROJECT_NAME" --filter "label=com.docker.compose.service=$1" | sed -n 1p
}
state() { docker inspect -f "$2" "$(container "$1")"; }
# setting SERVICE NAME: a variable of its environment.
setting() { state "$1" '{{range .Config.Env}}{{println .}}{{end}}' | sed -n "s/^$2=//p"; }
published() { echo "http://127.0.0.1:$(docker port "$(container "$1")" "$2" | sed -n '1s/.*://p')"; }

# quietly WHAT COMMAND...: its output is shown only when it fails.
quietly() {
  local what=$1
  shift
  "$@" >"$WORK/log" 2>&1 || { tail -n 40 "$WORK/log" >&2; die "$what"; }
}

healthy() { [ "$(state "$1" '{{.State.Health.Status}}')" = healthy ]; }
# rank FILE [BODY]: prints the status; the answer is in the file.
rank() { curl -s -m 60 -o "$1" -w '%{http_code}' -H 'Content-Type: application/json' --data-binary @- "$URL/v1/ranking" <<<"${2:-$BODY}" || true; }
answers() { [ "$(rank "$WORK/answer")" = "$1" ]; }
tasks_up() { [ "$(curl -s -m 5 "$URL/metrics" | grep -c '^ranking_task_up{.*} 1$')" = "$1" ]; }

# From outside, as a crash: `docker kill` counts as a wish of the operator, after which nothing is restarted.
crash() { docker run --rm --pid host --network none "${DEBIAN_IMAGE:-debian:bookworm-slim}" sh -c "kill -9 $(state "$1" '{{.State.Pid}}')"; }
