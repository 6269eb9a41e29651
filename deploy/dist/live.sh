#!/usr/bin/env bash
# Installs the Debian package with apt in a clean container whose init is systemd, and runs the units there: they start, rank, come back
# after a crash, take a reload, stop by themselves, and go with the package. Skipped without a container engine.
#   deploy/dist/live.sh PACKAGE.deb
set -euo pipefail
cd "$(dirname "$0")/../.."
source deploy/within.sh
PACKAGE=$1
IMAGE=${DEBIAN_IMAGE:-debian:bookworm-slim}
NAME=ranking-live-$$
WORK=$(mktemp -d)
say() { printf 'test-dist: %s\n' "$*" >&2; }
die() { say "FAILED: $*"; inside journalctl --no-pager -n 40 >&2 || true; exit 1; }
inside() { docker exec "$NAME" "$@"; }
clean_up() {
  docker rm -fv "$NAME" >/dev/null 2>&1 || true
  docker image rm -f "$NAME" >/dev/null 2>&1 || true
  rm -rf "$WORK"
}

# A package fits the release that it was built on.
possible() {
  local codename
  codename=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
  docker image inspect "$IMAGE" >/dev/null 2>&1 || timeout 300 docker pull -q "$IMAGE" >/dev/null 2>&1 || return 1
  [ "$(docker run --rm --network none "$IMAGE" sh -c '. /etc/os-release; echo "$VERSION_CODENAME"')" = "$codename" ]
}

answers() {
  [ "$(curl -s -m 20 -o "$WORK/answer" -w '%{http_code}' "$URL/v1/ranking" -d '{"model": "minilm-l6-rerank", "query": {"text": "harbour"},
    "passages": [{"text": "Bread."}, {"text": "Ice closes the harbour."}]}')" = "$1" ]
}

boots() {
  cp "$PACKAGE" "$WORK/ranking.deb"
  docker build -q -t "$NAME" -f - "$WORK" >"$WORK/build.log" 2>&1 <<EOF || { cat "$WORK/build.log" >&2; die 'apt does not install the package'; }
FROM $IMAGE
RUN apt-get update && apt-get install -y --no-install-recommends systemd
COPY ranking.deb /tmp/
RUN apt-get install -y --no-install-recommends /tmp/ranking.deb && systemctl enable ranking-task ranking-proxy && \
    echo RANKING_PROXY_LISTEN=0.0.0.0:8000 >/etc/default/ranking-proxy
CMD ["/lib/systemd/systemd"]
EOF
  docker run -d --name "$NAME" --privileged --cgroupns private --tmpfs /run --tmpfs /tmp -e container=docker -p 127.0.0.1:0:8000 "$NAME" >/dev/null
  URL=http://$(docker port "$NAME" 8000 | sed -n 1p)
  within 60 'a ranking' answers 200
  grep -q '"rankings":\[{"index":1,' "$WORK/answer" || die "the wrong passage is first: $(cat "$WORK/answer")"
}

confined() {
  local unit pid
  for unit in ranking-task ranking-proxy; do
    pid=$(inside systemctl show -P MainPID $unit)
    [ "$(inside stat -c %U "/proc/$pid")" = "$unit" ] || die "$unit runs as another user"
    [ "$(inside sed -n 's/^\(CapPrm\|CapEff\|CapBnd\):\t0*$/\1/p; s/^NoNewPrivs:\t1$/none/p; s/^Seccomp:\t2$/filter/p' "/proc/$pid/status" | wc -l)" = 5 ] ||
      die "$unit is not confined"
  done
  [ "$(inside stat -c '%U:%G %a' /run/ranking)" = 'ranking-task:ranking 750' ] || die 'the folder of the socket is open to others'
}

survives() {
  inside sh -c 'kill -9 $(systemctl show -P MainPID ranking-task)'
  within 10 '503 after the Task was killed' answers 503
  within 60 'a ranking after the Task was killed' answers 200
  inside systemctl reload ranking-proxy || die reload
  for _ in 1 2 3 4 5; do answers 200 || die 'a reload interrupts'; done
}

leaves() {
  local unit
  inside systemctl stop ranking-proxy ranking-task
  for unit in ranking-task ranking-proxy; do
    [ "$(inside systemctl show -P Result $unit) $(inside systemctl show -P ExecMainStatus $unit)" = 'success 0' ] || die "$unit did not stop by itself"
  done
  inside apt-get purge -qqy ranking >"$WORK/purge" 2>&1 || die "purge: $(cat "$WORK/purge")"
  ! inside sh -c 'ls -d /usr/*/ranking* /usr/share/doc/ranking /etc/systemd/system/*/ranking* 2>/dev/null' || die 'the package leaves files'
}

trap clean_up EXIT
docker info >/dev/null 2>&1 && possible || { say 'SKIPPED the units live: no container engine with an image of this release'; exit 0; }
boots
confined
survives
leaves
say 'installed with apt, units run by systemd: ranked, came back after a kill, reloaded, stopped, purged'
