#!/usr/bin/env bash
# Proves docker-compose.yml in a real engine: up, healthy, a ranking through the published port, a Task that is killed and comes back,
# scaling, graceful stop, and nothing left behind. Touches only its own project, which has a name of its own.
#   deploy/compose/test.sh
#   COMPOSE="docker-compose"   the compose to use (v1.29 or v2); default: docker compose, else docker-compose
#   COMPOSE_TEST_FULL=1        also Prometheus and AIPerf, whose images take minutes to build the first time
set -euo pipefail
cd "$(dirname "$0")/../.."
source deploy/compose/engine.sh
export COMPOSE_PROJECT_NAME="ranking-test-$$" TAG="test-$$" PORT=0 PROMETHEUS_PORT=0 COMMIT="${COMMIT:-test}"
export DOCKER_BUILDKIT=1 COMPOSE_DOCKER_CLI_BUILD=1
BODY='{"model":"minilm-l6-rerank","query":{"text":"When does the harbour freeze?"},"passages":[
  {"text":"The bakery opens at six."},{"text":"Ice closes the harbour from January until March."},{"text":"Bring a coat."}]}'
WORK=$(mktemp -d)

say() { printf 'test-compose: %s\n' "$*" >&2; }
die() { say "FAILED: $*"; compose logs --no-color --tail 40 >&2 || true; exit 1; }
container() { compose ps -q "$1" | head -n 1; }
state() { docker inspect -f "$2" "$(container "$1")"; }

# within SECONDS WHAT COMMAND...: repeats the command until it succeeds.
within() {
  local end=$((SECONDS + $1)) what=$2
  shift 2
  until "$@"; do
    [ $SECONDS -lt $end ] || die "$what: not in time"
    sleep 0.1
  done
}

healthy() { [ "$(state "$1" '{{.State.Health.Status}}')" = healthy ]; }
rank() { curl -s -m 20 -o "$WORK/answer" -w '%{http_code}' -H 'Content-Type: application/json' -d "$BODY" "$URL/v1/ranking" || true; }
answers() { [ "$(rank)" = "$1" ]; }
tasks_up() { [ "$(curl -s -m 5 "$URL/metrics" | grep -c '^ranking_task_up{.*} 1$')" = "$1" ]; }

clean_up() {
  compose --profile observability --profile bench --profile replicas down -v --remove-orphans -t 5 >"$WORK/down.log" 2>&1 || cat "$WORK/down.log"
  docker image ls -q --filter "reference=ranking-*:$TAG" | sort -u | xargs -r docker image rm -f >/dev/null
  rm -rf "$WORK"
  stop_engine
}

up() {
  say 'building the images'
  compose build >"$WORK/build.log" 2>&1 || { tail -n 40 "$WORK/build.log" >&2; die 'the build'; }
  say 'up'
  compose up -d >"$WORK/up.log" 2>&1 || { cat "$WORK/up.log" >&2; die 'up'; }
  within 120 'the proxy is healthy' healthy proxy
  URL="http://$(compose port proxy 8000 | sed 's/0\.0\.0\.0/127.0.0.1/')"
}

ranks() {
  answers 200 || die "ranking: $(cat "$WORK/answer")"
  grep -q '"rankings":\[{"index":1,' "$WORK/answer" || die "the wrong passage is first: $(cat "$WORK/answer")"
  say "ranks: $(cat "$WORK/answer")"
}

images() {
  local base proxy task name
  base=$(docker image inspect -f '{{.Size}}' "${DEBIAN_IMAGE:-debian:bookworm-slim}")
  proxy=$(($(docker image inspect -f '{{.Size}}' "ranking-proxy:$TAG") - base))
  task=$(docker image inspect -f '{{.Size}}' "ranking-task:$TAG")
  say "sizes: proxy $((proxy / 1000000)) MB beyond its base, task $((task / 1000000)) MB"
  [ $proxy -le 30000000 ] || die 'the image of the proxy is larger than 30 MB beyond its base'
  [ "$task" -le 250000000 ] || die 'the image of the task is larger than 250 MB'
  for name in proxy task; do
    docker run --rm --network none --entrypoint sh "ranking-$name:$TAG" -ec "
      for tool in cc gcc g++ go cargo rustc cmake git pip; do ! command -v \$tool || exit 1; done
      [ -z \"\$(ls /var/lib/apt/lists)\" ]
      cd /usr/share/doc/ranking-$name && [ -s sbom.cdx.json ] && [ -s LICENSE ] && [ -s NOTICE ] && [ -n \"\$(ls licences)\" ]" ||
      die "what is in the image of $name"
  done
}

confined() {
  local name
  for name in proxy task; do
    [ "$(state $name '{{.Config.User}} {{.HostConfig.ReadonlyRootfs}} {{.HostConfig.CapDrop}} {{.HostConfig.SecurityOpt}}')" = \
      '10001:10001 true [ALL] [no-new-privileges=true]' ] || die "$name is not confined"
    [[ "$(state $name '{{.HostConfig.Memory}} {{.HostConfig.NanoCpus}}')" =~ ^[1-9][0-9]*\ [1-9][0-9]*$ ]] || die "$name has no limits"
  done
  [ "$(state task '{{.HostConfig.NetworkMode}}')" = none ] || die 'the task has a network'
}

# From outside, as a crash: `docker kill` counts as a wish of the operator, after which nothing is restarted.
survives_a_kill() {
  docker run --rm --pid host --network none "${DEBIAN_IMAGE:-debian:bookworm-slim}" sh -c "kill -9 $(state task '{{.State.Pid}}')"
  within 10 '503 after the Task was killed' answers 503
  say "without its Task: $(cat "$WORK/answer")"
  within 60 'a ranking after the Task was killed' answers 200
  [ "$(state task '{{.RestartCount}}')" = 1 ] || die 'the Task was not restarted by the engine'
  within 30 'readiness' healthy proxy
}

scales() {
  compose up -d --no-recreate --scale task=3 >"$WORK/scale.log" 2>&1 || die "scale: $(cat "$WORK/scale.log")"
  within 120 'three Tasks' tasks_up 3
  local n
  for n in $(seq 30); do answers 200 || die "with three Tasks: $(cat "$WORK/answer")"; done
  compose up -d --no-recreate --scale task=1 >"$WORK/scale.log" 2>&1 || die "scale: $(cat "$WORK/scale.log")"
  for n in $(seq 10); do answers 200 || die "after scaling down: $(cat "$WORK/answer")"; done
  within 30 'the sockets of two Tasks have gone' tasks_up 1
  say 'scaled to 3 and back'
}

prometheus_scrapes() {
  local url
  compose --profile observability up -d --build prometheus >"$WORK/prometheus.log" 2>&1 || die "prometheus: $(tail -n 20 "$WORK/prometheus.log")"
  url="http://$(compose port prometheus 9090 | sed 's/0\.0\.0\.0/127.0.0.1/')"
  within 60 'Prometheus has the metrics of the proxy' sh -c "curl -s '$url/api/v1/query?query=up' | grep -q '\"job\":\"ranking\".*\"1\"'"
  say 'Prometheus scrapes'
}

aiperf_runs() {
  say 'building AIPerf (1.2 GB of packages the first time)'
  compose --profile bench build bench >"$WORK/aiperf.log" 2>&1 || die "aiperf: $(tail -n 20 "$WORK/aiperf.log")"
  compose --profile bench run --rm bench >"$WORK/aiperf.log" 2>&1 || die "aiperf: $(tail -n 40 "$WORK/aiperf.log")"
  grep -E 'Request (Latency|Throughput|Count)' "$WORK/aiperf.log" >&2 || die "aiperf has no result: $(tail -n 40 "$WORK/aiperf.log")"
}

stops_gracefully() {
  local ids name
  ids=$(compose ps -q)
  compose stop >"$WORK/stop.log" 2>&1
  for name in $ids; do
    [ "$(docker inspect -f '{{.State.ExitCode}}' "$name")" = 0 ] || die "$(docker inspect -f '{{.Name}} exits with {{.State.ExitCode}}' "$name")"
  done
}

leaves_nothing() {
  local label="label=com.docker.compose.project=$COMPOSE_PROJECT_NAME" left
  compose --profile observability --profile bench down -v --remove-orphans >"$WORK/down.log" 2>&1
  left=$(docker ps -aq --filter "$label"; docker volume ls -q --filter "$label"; docker network ls -q --filter "$label")
  [ -z "$left" ] || die "left behind: $left"
}

engine_or_skip
trap clean_up EXIT
up
ranks
images
confined
survives_a_kill
scales
if [ -n "${COMPOSE_TEST_FULL:-}" ]; then prometheus_scrapes; aiperf_runs; fi
stops_gracefully
leaves_nothing
say "passed in $SECONDS s"
