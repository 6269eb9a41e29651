#!/usr/bin/env bash
# Packs what has been built (make build) into a tarball and a Debian package: both programs, the libraries they load, the default model,
# systemd units, documents, licences and SBOM. The same programs give the same bytes, whenever and wherever they are packed.
#   deploy/dist/build.sh FOLDER
#   SOURCE_DATE_EPOCH   time of every file; default: that of the last commit
set -euo pipefail
cd "$(dirname "$0")/../.."
OUT=$(mkdir -p "$1" && cd "$1" && pwd)
NATIVE_BUILD=${NATIVE_BUILD:-build/native}
PROXY=${PROXY:-build/bin/ranking-proxy}
VERSION=$("$PROXY" version | sed -n '1s/.* //p')
ARCHITECTURE=$(dpkg --print-architecture)
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
STAGE=$(mktemp -d)
trap 'rm -rf "$STAGE"' EXIT
umask 022

programs() {
  cmake --install "$NATIVE_BUILD" --strip --prefix "$STAGE/usr" >/dev/null
  install -s "$PROXY" "$STAGE/usr/bin/ranking-proxy"
  mkdir -p "$STAGE/usr/share/ranking/models"
  cp -r native/models/minilm-l6-rerank "$STAGE/usr/share/ranking/models/"
}

units() {
  install -Dm 644 -t "$STAGE/usr/lib/systemd/system" deploy/systemd/*.service
  install -Dm 644 deploy/systemd/ranking.sysusers "$STAGE/usr/lib/sysusers.d/ranking.conf"
}

documents() {
  local doc=$STAGE/usr/share/doc/ranking file
  # With every file that a shipped document links to: test.sh follows the links.
  for file in README.md LICENSE NOTICE docker-compose.yml ipc/PROTOCOL.md native/README.md native/Dockerfile proxy/README.md proxy/Dockerfile \
    proxy/framing/framing.go proxy/records/schema.json conformance/examples/go/rank_test.go conformance/inventory.yaml \
    native/tests/goldens/quality/own.json conformance/qualify/evidence/result.schema.json native/models/tools/{export,make_goldens}.py \
    $(git ls-files 'bench/*.md' 'bench/results/*.svg' 'conformance/*.md' 'native/models/*.md' 'native/tests/*.md' deploy/{README,SECURITY}.md \
      deploy/sizing/{*.md,parameters.json} deploy/{systemd,sbom,helm/ranking}); do
    install -Dm 644 "$file" "$doc/$file"
  done
  go build -o "$STAGE/sbom" ./deploy/sbom
  "$STAGE/sbom" --name ranking --version "$VERSION" --out "$doc" --go ./proxy/cmd/ranking-proxy \
    --cargo native/tokenizer/Cargo.toml --wheel .deps/openvino/openvino-*.dist-info \
    --debian libmsgpack-cxx-dev,libasio-dev,libspdlog-dev,libfmt-dev,libcli11-dev,nlohmann-json3-dev,libssl-dev
  rm "$STAGE/sbom"
}

# Packages that hold the shared libraries which are not among our own.
dependencies() {
  mkdir -p "$STAGE/debian"
  printf 'Source: ranking\n\nPackage: ranking\nArchitecture: any\n' >"$STAGE/debian/control"
  (cd "$STAGE" && dpkg-shlibdeps -O --ignore-missing-info -lusr/lib/ranking usr/bin/ranking-task usr/lib/ranking/* 2>/dev/null) |
    sed -n 's/^shlibs:Depends=//p'
  rm -r "$STAGE/debian"
}

control() {
  local depends
  depends=$(dependencies)
  mkdir "$STAGE/DEBIAN"
  install -m 755 deploy/dist/postinst deploy/dist/prerm "$STAGE/DEBIAN/"
  cat >"$STAGE/DEBIAN/control" <<EOF
Package: ranking
Version: $VERSION
Architecture: $ARCHITECTURE
Maintainer: the maintainers of trtmc-ranking-proxy <maintainers@localhost>
Section: net
Priority: optional
Depends: $depends, systemd
Description: NIM ranking API in front of a native ranking Task
 An HTTP proxy, the Task process that runs the model, and a small default model.
EOF
}

pack() {
  local tarball=$OUT/ranking-$VERSION-$ARCHITECTURE.tar.gz
  find "$STAGE" -exec touch --no-dereference -d "@$SOURCE_DATE_EPOCH" {} +
  tar -C "$STAGE" --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" --transform "s,^usr,ranking-$VERSION," \
    -cf - usr | gzip -n >"$tarball"
  control
  dpkg-deb --root-owner-group -Zgzip --build "$STAGE" "$OUT/ranking_${VERSION}_$ARCHITECTURE.deb" >/dev/null
  (cd "$OUT" && sha256sum ranking?"$VERSION"*)
}

programs
units
documents
pack
