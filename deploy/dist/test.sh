#!/usr/bin/env bash
# Packs twice, with different umasks, and compares; then runs what is in the tarball, and the package (live.sh).
set -euo pipefail
cd "$(dirname "$0")/../.."
WORK=$(mktemp -d)
trap 'rm -rf "$WORK"' EXIT
say() { printf 'test-dist: %s\n' "$*" >&2; }
die() { printf 'test-dist: FAILED: %s\n' "$*" >&2; exit 1; }

SOURCE_DATE_EPOCH=$(git log -1 --format=%ct) && export SOURCE_DATE_EPOCH
# What is packed must be the same, whoever builds meanwhile.
cp "${PROXY:-build/bin/ranking-proxy}" "$WORK/proxy"
export PROXY=$WORK/proxy
deploy/dist/build.sh "$WORK/first" >"$WORK/first.sums"
(umask 077 && deploy/dist/build.sh "$WORK/second" >"$WORK/second.sums")
diff "$WORK/first.sums" "$WORK/second.sums" || die 'two builds differ'
say 'packed twice, with umask 022 and 077: tarball and package have the same SHA-256'
[ "$(wc -l <"$WORK/first.sums")" = 2 ] || die 'not a tarball and a package'

mkdir "$WORK/root" "$WORK/package"
tar -C "$WORK/root" --strip-components=1 -xzf "$WORK"/first/*.tar.gz
# Built in another folder they would be the same.
for program in "$WORK"/root/bin/*; do
  if grep -aqF -e "$PWD" -e "${CARGO_HOME:-$HOME/.cargo}" "$program"; then die "$program holds a path of the machine that built it"; fi
done
"$WORK/root/bin/ranking-proxy" version | sed -n 1p >&2
"$WORK/root/bin/ranking-task" --version | sed -n 1p >&2
env -i "$WORK/root/bin/ranking-task" --task openvino --model "$WORK/root/share/ranking/models/minilm-l6-rerank" --check >"$WORK/check" ||
  die "the packed Task does not work: $(cat "$WORK/check")"
grep '^score ' "$WORK/check" >&2
for file in lib/systemd/system/ranking-task.service lib/sysusers.d/ranking.conf share/doc/ranking/sbom.cdx.json share/doc/ranking/LICENSE; do
  [ -s "$WORK/root/$file" ] || die "$file is missing"
done
# Relative links of every shipped document lead to something shipped.
links() {
  local doc link
  find "$1" -name '*.md' | while read -r doc; do
    { grep -oE '\]\([^)]+\)' "$doc" || true; } | sed -E 's/^..//; s/\)$//; s/#.*//' | { grep -vE '^$|^[a-z]+:' || true; } |
      while read -r link; do [ -e "$(dirname "$doc")/$link" ] || echo "${doc#"$1/"} links to $link"; done
  done
}
broken=$(links "$WORK/root/share/doc/ranking")
[ -z "$broken" ] || die "documents link to what is not shipped: $broken"
say 'every relative link in the shipped documents leads to a shipped file or folder'
dpkg-deb -x "$WORK"/first/*.deb "$WORK/package"
diff -r "$WORK/root" "$WORK/package/usr" || die 'tarball and package differ'
say 'tarball and package hold the same files'
if command -v systemd-analyze >/dev/null; then
  mkdir "$WORK/units"
  for unit in ranking-task ranking-proxy; do
    sed "s,=/usr/bin/ranking,=$WORK/package/usr/bin/ranking," "$WORK/package/usr/lib/systemd/system/$unit.service" >"$WORK/units/$unit.service"
  done
  systemd-analyze verify "$WORK"/units/*.service || die 'systemd does not like the units'
  say 'systemd-analyze verify accepts both units'
  for unit in "$WORK"/units/*.service; do # exposure of at most 1.5 of 10
    systemd-analyze --offline=true --threshold=15 --no-pager security "$unit" >"$WORK/security" || die "$(tail -n 1 "$WORK/security")"
    tail -n 1 "$WORK/security" >&2
  done
else
  printf 'test-dist: SKIPPED the units: no systemd-analyze on this machine\n' >&2
fi
dpkg-deb -f "$WORK"/first/*.deb Depends | grep libssl >/dev/null || die 'the package names no dependencies'
deploy/dist/live.sh "$WORK"/first/*.deb
cat "$WORK/first.sums"
