# Sourced by test.sh: finds an engine with the base images, or starts one. Without either the test is skipped, and says why.
ENGINE_FOLDER=

skip() {
  printf 'test-compose: SKIPPED: %s\n' "$*" >&2
  stop_engine
  exit 0
}

compose() { ${COMPOSE:-docker compose} "$@"; }

engine_or_skip() {
  command -v docker >/dev/null || skip 'no docker command on this machine'
  docker info >/dev/null 2>&1 || start_engine || skip 'no engine answers, and none can be started here'
  if [ -z "${COMPOSE:-}" ] && ! docker compose version >/dev/null 2>&1; then
    command -v docker-compose >/dev/null || skip 'neither docker compose nor docker-compose is installed'
    COMPOSE=docker-compose
  fi
  local image
  for image in "${DEBIAN_IMAGE:-debian:bookworm-slim}" "${GO_IMAGE:-golang:1.26-bookworm}" "${RUST_IMAGE:-rust:1-bookworm}"; do
    docker image inspect "$image" >/dev/null 2>&1 || timeout 300 docker pull -q "$image" >/dev/null 2>&1 || skip "the base image $image cannot be pulled"
  done
}

# A daemon of our own, with its own data, that ends with the test.
start_engine() {
  [ "$(id -u)" = 0 ] && command -v dockerd >/dev/null || return 1
  ENGINE_FOLDER=$(mktemp -d)
  dockerd --data-root "$ENGINE_FOLDER/data" --exec-root "$ENGINE_FOLDER/exec" --pidfile "$ENGINE_FOLDER/pid" \
    --host "unix://$ENGINE_FOLDER/docker.sock" >"$ENGINE_FOLDER/log" 2>&1 &
  ENGINE_JOB=$!
  export DOCKER_HOST="unix://$ENGINE_FOLDER/docker.sock"
  local n
  for n in $(seq 60); do
    if docker info >/dev/null 2>&1; then return 0; fi
    sleep 0.5
  done
  return 1
}

stop_engine() {
  [ -n "$ENGINE_FOLDER" ] || return 0
  if [ -s "$ENGINE_FOLDER/pid" ]; then kill "$(cat "$ENGINE_FOLDER/pid")" 2>/dev/null || true; fi
  wait || true
  rm -rf "$ENGINE_FOLDER"
  ENGINE_FOLDER=
}
