#!/usr/bin/env bash
# Proves docker-compose.yml in a real engine: up, healthy, the README's request through the published port, a Task that is killed and comes
# back, scaling, replicas, the trtmc profile on the runtime's double, graceful stop, and nothing left behind. Touches only its own project,
# which has a name of its own.
#   deploy/compose/test.sh
#   COMPOSE="docker-compose"   the compose to use (v1.29 or v2); default: docker compose, else docker-compose
#   COMPOSE_TEST_FULL=1        also Prometheus and AIPerf, whose images take minutes to build the first time
set -euo pipefail
cd "$(dirname "$0")/../.."
for part in within compose/{engine,lib,images,profiles}; do source "deploy/$part.sh"; done
export COMPOSE_PROJECT_NAME="ranking-test-$$" TAG="test-$$" PORT=0 PROMETHEUS_PORT=0 COMMIT="${COMMIT:-test}"
export DOCKER_BUILDKIT=1 COMPOSE_DOCKER_CLI_BUILD=1
BODY='{"model":"minilm-l6-rerank","query":{"text":"When does the harbour freeze?"},"passages":[
  {"text":"The bakery opens at six."},{"text":"Ice closes the harbour from January until March."},{"text":"Bring a coat."}]}'
WORK=$(mktemp -d)

clean_up() {
  touch "$WORK/enough"
  compose --profile observability --profile bench --profile replicas --profile trtmc down -v --remove-orphans -t 5 >"$WORK/down.log" 2>&1 || cat "$WORK/down.log"
  docker image ls -q --filter "reference=ranking-*:$TAG" | sort -u | xargs -r docker image rm -f >/dev/null
  rm -rf "$WORK"
  stop_engine
}

up() {
  local start=$SECONDS
  say 'building the images'
  quietly 'the build' compose build
  say "built in $((SECONDS - start)) s; up"
  quietly 'up' compose up -d
  within 120 'the proxy is healthy' healthy proxy
  URL=$(published proxy 8000)
}

# The very command of the README, and the order of the answer that stands below it.
ranks_as_the_readme_says() {
  local block command
  block=$(sed -n '/^\$ curl .*\/v1\/ranking/,/^```/p' README.md)
  command=$(sed -n "s/^\\$ //; /^{\"rankings\"/q; p" <<<"$block")
  eval "${command/localhost:8000/${URL#http://}}" >"$WORK/answer"
  [ "$(order <"$WORK/answer")" = "$(grep '^{"rankings"' <<<"$block" | order)" ] || die "the README's request: $(cat "$WORK/answer")"
  say "ranks: $(cat "$WORK/answer")"
}

order() { grep -o '"index":[0-9]*' | tr '\n' ' '; }

survives_a_kill() {
  crash task
  within 10 '503 after the Task was killed' answers 503
  say "without its Task: $(cat "$WORK/answer")"
  within 60 'a ranking after the Task was killed' answers 200
  [ "$(state task '{{.RestartCount}}')" = 1 ] || die 'the Task was not restarted by the engine'
  within 30 'readiness' healthy proxy
}

# What was accepted before the stop is answered, and every program ends by itself.
stops_gracefully() {
  local ids name client
  ids=$(compose ps -q)
  (rank "$WORK/last" "$(long_request)" >"$WORK/last.status") &
  client=$!
  within 20 'the long request is in progress' sh -c "curl -s '$URL/metrics' | grep -q '^ranking_proxy_requests_in_flight 1$'"
  quietly 'stop' compose stop
  wait $client
  [ "$(cat "$WORK/last.status")" = 200 ] || die "the request in progress at the stop: $(cat "$WORK/last.status") $(cat "$WORK/last")"
  for name in $ids; do
    [ "$(docker inspect -f '{{.State.ExitCode}}' "$name")" = 0 ] || die "$(docker inspect -f '{{.Name}} exits with {{.State.ExitCode}}' "$name")"
  done
  say 'stopped; the request in progress was answered'
}

# Seconds of work.
long_request() {
  local passage
  passage=$(printf 'the harbour freezes in winter %.0s' $(seq 60))
  printf '{"model":"minilm-l6-rerank","query":{"text":"When does the harbour freeze?"},"passages":['
  for n in $(seq 99); do printf '{"text":"%s%s"},' "$n" "$passage"; done
  printf '{"text":"none"}],"truncate":"END"}'
}

leaves_nothing() {
  local label="label=com.docker.compose.project=$COMPOSE_PROJECT_NAME" left
  quietly 'down' compose --profile observability --profile bench --profile replicas --profile trtmc down -v --remove-orphans
  left=$(docker ps -aq --filter "$label"; docker volume ls -q --filter "$label"; docker network ls -q --filter "$label")
  [ -z "$left" ] || die "left behind: $left"
}

engine_or_skip
trap clean_up EXIT
up
ranks_as_the_readme_says
sizes
contents
builds_quickly
confined proxy task
confined_inside
patient
survives_a_kill
scales
replicas_survive
trtmc_serves
if [ -n "${COMPOSE_TEST_FULL:-}" ]; then prometheus_scrapes; aiperf_runs; else
  say 'skipped: Prometheus (COMPOSE_TEST_FULL=1 runs it)'
  say 'skipped: AIPerf (COMPOSE_TEST_FULL=1 runs it)'
fi
stops_gracefully
leaves_nothing
say "passed in $SECONDS s"
