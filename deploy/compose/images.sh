# Sourced by test.sh: what is in the images, how they are built, how their containers are confined.

sizes() {
  local base proxy task
  base=$(docker image inspect -f '{{.Size}}' "${DEBIAN_IMAGE:-debian:bookworm-slim}")
  proxy=$(($(docker image inspect -f '{{.Size}}' "ranking-proxy:$TAG") - base))
  task=$(docker image inspect -f '{{.Size}}' "ranking-task:$TAG")
  say "sizes: proxy $((proxy / 1000000)) MB beyond its base, task $((task / 1000000)) MB"
  [ $proxy -le 30000000 ] || die 'the image of the proxy is larger than 30 MB beyond its base'
  [ "$task" -le 250000000 ] || die 'the image of the task is larger than 250 MB'
}

# No tool that builds, no cache of a package manager, no sources, nothing that looks like a secret; SBOM and licences are there.
contents() {
  local name
  for name in proxy task; do
    docker run --rm --user 0 --network none --entrypoint sh "ranking-$name:$TAG" -ec "
      for tool in cc gcc g++ go cargo rustc cmake git pip python3 curl; do ! command -v \$tool || exit 1; done
      [ -z \"\$(find /var/lib/apt/lists /var/cache/apt -type f 2>/dev/null)\" ]
      found=\$(find /src /go /root /home /usr/local /tmp /var/tmp -name '*.go' -o -name '*.cpp' -o -name '*.rs' -o -name .git -o -name .netrc \
        -o -name '.env*' -o -name '*.key' -o -name '*.pem' -o -name 'id_*' -o -name .cargo -o -name .cache 2>/dev/null || true)
      [ -z \"\$found\" ] || { echo \"\$found\"; exit 1; }
      cd /usr/share/doc/ranking-$name && [ -s sbom.cdx.json ] && [ -s LICENSE ] && [ -s NOTICE ] && [ -n \"\$(ls licences)\" ]" ||
      die "what is in the image of $name"
  done
}

# A second build runs no step again.
builds_quickly() {
  local start=$SECONDS again
  BUILDKIT_PROGRESS=plain quietly 'the second build' compose build
  again=$(awk '/^#[0-9]+ \[.*\] RUN/ { run[$1] = $0; runs++ } /^#[0-9]+ CACHED/ { delete run[$1] }
    END { for (id in run) print run[id]; if (!runs) print "no step was seen" }' "$WORK/log")
  [ -z "$again" ] || die "the second build ran again: $again"
  say "a second build takes $((SECONDS - start)) s"
}

confined() {
  local name
  for name in "$@"; do
    [ "$(state "$name" '{{.Config.User}} {{.HostConfig.ReadonlyRootfs}} {{.HostConfig.CapDrop}} {{.HostConfig.SecurityOpt}} {{.HostConfig.Privileged}}')" = \
      '10001:10001 true [ALL] [no-new-privileges=true] false' ] || die "$name is not confined"
    [[ "$(state "$name" '{{.HostConfig.Memory}} {{.HostConfig.NanoCpus}}')" =~ ^[1-9][0-9]*\ [1-9][0-9]*$ ]] || die "$name has no limits"
    [ "$(state "$name" '{{.HostConfig.PidsLimit}} {{.HostConfig.RestartPolicy.Name}}')" = '256 unless-stopped' ] || die "$name: processes or restarts"
  done
}

# What the engine says is what holds inside: no capability, no writing outside the socket's folder, no network for the Task.
confined_inside() {
  local name
  for name in proxy task; do
    [ "$(docker exec "$(container $name)" sed -n 's/^Cap\(Prm\|Eff\|Bnd\):\t0*$/\1/p' /proc/1/status | wc -l)" = 3 ] || die "$name has capabilities"
    docker exec "$(container $name)" sh -c 'touch /run/ranking/x && rm /run/ranking/x && ! touch /tmp/x /usr/local/x /var/x 2>/dev/null' || die "$name can write"
  done
  [ "$(state task '{{.HostConfig.NetworkMode}}')" = none ] || die 'the task has a network'
  [ "$(docker exec "$(container task)" sh -c 'ls /sys/class/net')" = lo ] || die 'the task sees a network'
}

# The engine's patience is longer than the programs' drain.
patient() {
  local drain
  drain=$(setting proxy RANKING_PROXY_DRAIN_TIMEOUT)
  [ "$(state proxy '{{.Config.StopTimeout}}')" -gt $((${drain%s} + 5)) ] || die 'the proxy is killed while it drains'
  [ $(($(state task '{{.Config.StopTimeout}}') * 1000)) -gt $(($(setting task RANKING_TASK_DRAIN_TIMEOUT_MS) + 5000)) ] ||
    die 'the task is killed while it drains'
}
