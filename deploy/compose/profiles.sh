# Sourced by test.sh: the profiles of docker-compose.yml.

scales() {
  quietly 'scaling up' compose up -d --no-recreate --scale task=3
  within 120 'three Tasks' tasks_up 3
  local n
  for n in $(seq 30); do answers 200 || die "with three Tasks: $(cat "$WORK/answer")"; done
  quietly 'scaling down' compose up -d --no-recreate --scale task=1
  for n in $(seq 10); do answers 200 || die "after scaling down: $(cat "$WORK/answer")"; done
  within 30 'the sockets of two Tasks have gone' tasks_up 1
  say 'scaled to 3 and back'
}

# One of two Tasks crashes under load, comes back, and is stopped for good: no request fails.
replicas_survive() {
  local client failed
  quietly 'the replica' compose --profile replicas up -d --no-recreate replica
  within 120 'two Tasks' tasks_up 2
  for client in 1 2 3 4; do
    while [ ! -e "$WORK/enough" ]; do rank "$WORK/replicas.$client" && echo; done >"$WORK/statuses.$client" &
  done
  sleep 2
  crash replica
  within 30 'one Task' tasks_up 1
  within 60 'the crashed Task is back' tasks_up 2
  quietly 'stopping the replica' compose --profile replicas stop replica
  within 30 'one Task' tasks_up 1
  touch "$WORK/enough"
  wait_for_clients
  failed=$(cat "$WORK"/statuses.* | grep -cv '^200$' || true)
  say "replicas: $(cat "$WORK"/statuses.* | wc -l) requests while one of two Tasks crashed, came back and left; $failed failed"
  [ "$failed" = 0 ] || die 'requests failed'
  quietly 'removing the replica' compose --profile replicas rm -fsv replica
}

# The daemon of engine.sh is a job as well, and is not waited for.
wait_for_clients() {
  local job
  for job in $(jobs -p); do [ "$job" = "${ENGINE_JOB:-}" ] || wait "$job"; done
}

# The double of the runtime stands where TRTMC's would: mounts, flags, socket and second proxy are those of the profile.
trtmc_serves() {
  local double file="$WORK/no-gpu.yml" URL BODY=${BODY/minilm-l6-rerank/model} # named after the bundle
  quietly 'the TRTMC double' docker build -t "ranking-trtmc-double:$TAG" ${RUST_IMAGE:+--build-arg "RUST_IMAGE=$RUST_IMAGE"} \
    -f deploy/compose/trtmc-double.Dockerfile native/tests/trtmc_double
  double=$(docker create "ranking-trtmc-double:$TAG")
  mkdir -m 755 "$WORK/trtmc"
  docker cp -q "$double:/double/runtime" "$WORK/trtmc/runtime" && docker cp -q "$double:/double/model.trtmc" "$WORK/trtmc/model.trtmc"
  docker rm "$double" >/dev/null
  export TRTMC_RUNTIME_ROOT=$WORK/trtmc/runtime TRTMC_BUNDLE=$WORK/trtmc/model.trtmc TRTMC_PORT=0

  quietly 'creating the trtmc container' compose --profile trtmc up --no-start trtmc
  [ "$(state trtmc '{{range .HostConfig.DeviceRequests}}{{.Driver}} {{.Count}} {{.Capabilities}}{{end}}')" = 'nvidia 1 [[gpu]]' ] ||
    die 'trtmc reserves no GPU'
  quietly 'removing it' compose --profile trtmc rm -fsv trtmc # v1.29 cannot make a container anew on an engine of today
  sed '/^    deploy:$/,/devices:/d' docker-compose.yml >"$file"
  ! grep -q nvidia "$file" || die 'the reservation of the GPU was not taken out'
  COMPOSE_FILE=$(sed "s,^docker-compose.yml,$file," <<<"${COMPOSE_FILE:-docker-compose.yml}") \
    quietly 'trtmc without a GPU' compose --project-directory . --profile trtmc up -d trtmc-proxy
  within 60 'the proxy of trtmc is healthy' healthy trtmc-proxy
  confined trtmc trtmc-proxy
  URL=$(published trtmc-proxy 8000)
  answers 200 && grep -q '"rankings":\[{"index":1,' "$WORK/answer" || die "trtmc: $(cat "$WORK/answer")"
  say "trtmc, with the double in the runtime's place: $(cat "$WORK/answer")"
  quietly 'removing trtmc' compose --profile trtmc rm -fsv trtmc trtmc-proxy
}

prometheus_scrapes() {
  local url
  quietly 'prometheus' compose --profile observability up -d --build prometheus
  url=$(published prometheus 9090)
  within 60 'Prometheus is healthy' healthy prometheus
  within 60 'Prometheus has the metrics of the proxy' sh -c "curl -s '$url/api/v1/query?query=up' | grep -q '\"job\":\"ranking\".*\"1\"'"
  say 'Prometheus scrapes'
}

aiperf_runs() {
  say 'building AIPerf (1.2 GB of packages the first time)'
  quietly 'building AIPerf' compose --profile bench build bench
  quietly 'AIPerf' compose --profile bench run --rm bench
  grep -E 'Request (Latency|Throughput|Count)' "$WORK/log" >&2 || die "AIPerf has no result: $(tail -n 40 "$WORK/log")"
}
