#!/usr/bin/env bash
# Installs the chart, with helm itself, into a real Kubernetes API server, and has its Pod Security admission judge the pods. There are only
# kube-apiserver and etcd: objects are kept, defaulted and judged, no pod runs.
#   deploy/helm/apiserver.sh            skipped, with a line that says so, unless both have been built before
#   deploy/helm/apiserver.sh --build    builds them first, from their Go modules: a quarter of an hour on two busy cores
set -euo pipefail
cd "$(dirname "$0")/../.."
source deploy/helm/tools.sh
PLANE=$TOOLS/controlplane
WORK=$(mktemp -d)
API=
JOBS=()
say() { printf 'test-apiserver: %s\n' "$*" >&2; }
die() { say "FAILED: $*"; exit 1; }

build() {
  mkdir -p "$PLANE"
  local version=k8s.io/component-base/version
  go build -C deploy/helm/controlplane -ldflags '-s -w' -o "$PLANE/etcd" go.etcd.io/etcd/server/v3
  go build -C deploy/helm/controlplane -ldflags "-s -w -X $version.gitVersion=v1.34.2 -X $version.gitMajor=1 -X $version.gitMinor=34" \
    -o "$PLANE/kube-apiserver" k8s.io/kubernetes/cmd/kube-apiserver
}

clean_up() {
  if [ ${#JOBS[@]} -gt 0 ]; then kill "${JOBS[@]}" 2>/dev/null || true; wait || true; fi
  rm -rf "$WORK"
}

within() {
  local end=$((SECONDS + $1)) what=$2
  shift 2
  until "$@" >/dev/null 2>&1; do
    [ $SECONDS -lt $end ] || { tail -n 20 "$WORK"/*.log >&2; die "$what: not in time"; }
    sleep 0.2
  done
}

start() {
  local ports token
  read -ra ports < <("$PYTHON" -c 'import socket
s = [socket.create_server(("127.0.0.1", 0)) for _ in range(3)]
print(*[x.getsockname()[1] for x in s])')
  API=https://127.0.0.1:${ports[2]}
  "$PLANE/etcd" --data-dir "$WORK/etcd" --unsafe-no-fsync --listen-client-urls "http://127.0.0.1:${ports[0]}" \
    --advertise-client-urls "http://127.0.0.1:${ports[0]}" --listen-peer-urls "http://127.0.0.1:${ports[1]}" \
    --initial-advertise-peer-urls "http://127.0.0.1:${ports[1]}" --initial-cluster "default=http://127.0.0.1:${ports[1]}" >"$WORK/etcd.log" 2>&1 &
  JOBS+=($!)
  token=$(openssl rand -hex 16)
  echo "$token,admin,1,system:masters" >"$WORK/tokens"
  openssl genrsa -out "$WORK/accounts.key" 2048 2>/dev/null
  "$PLANE/kube-apiserver" --etcd-servers "http://127.0.0.1:${ports[0]}" --bind-address 127.0.0.1 --advertise-address 127.0.0.1 \
    --secure-port "${ports[2]}" --cert-dir "$WORK/certificates" --endpoint-reconciler-type none --service-cluster-ip-range 10.0.0.0/24 \
    --token-auth-file "$WORK/tokens" --authorization-mode RBAC --service-account-issuer "$API" \
    --service-account-key-file "$WORK/accounts.key" --service-account-signing-key-file "$WORK/accounts.key" >"$WORK/apiserver.log" 2>&1 &
  JOBS+=($!)
  configure "$token"
  within 120 'the API server is ready' ask GET /readyz
}

configure() {
  export KUBECONFIG=$WORK/kubeconfig
  cat >"$KUBECONFIG" <<EOF
apiVersion: v1
kind: Config
current-context: test
contexts: [{name: test, context: {cluster: test, user: admin, namespace: ranking}}]
clusters: [{name: test, cluster: {server: "$API", certificate-authority: "$WORK/certificates/apiserver.crt"}}]
users: [{name: admin, user: {token: "$1"}}]
EOF
  TOKEN=$1
}

# ask METHOD PATH [FILE]: the answer of the server; fails on a status of 400 and above.
ask() {
  curl -s --fail-with-body -m 30 --cacert "$WORK/certificates/apiserver.crt" -H "Authorization: Bearer $TOKEN" -X "$1" \
    ${3:+-H 'Content-Type: application/yaml' --data-binary "@$3"} "$API$2"
}

# refused WHY METHOD PATH FILE: the server says no, and says why.
refused() {
  local why=$1 answer
  shift
  ! answer=$(ask "$@") || die "accepted: $4"
  grep -q -- "$why" <<<"$answer" || die "refused, but not for $why: $answer"
}

# What a cluster has before the chart comes: a namespace of the strictest kind, the operator's schemas, the class of GPU pods.
prepare() {
  local account=/api/v1/namespaces/ranking/serviceaccounts
  printf '{apiVersion: v1, kind: Namespace, metadata: {name: ranking, labels: {pod-security.kubernetes.io/enforce: restricted}}}' >"$WORK/o"
  ask POST /api/v1/namespaces "$WORK/o" >/dev/null
  printf '{apiVersion: v1, kind: ServiceAccount, metadata: {name: default}}' >"$WORK/o"
  within 30 'the namespace has an account' ask POST "$account" "$WORK/o"
  printf '{apiVersion: node.k8s.io/v1, kind: RuntimeClass, metadata: {name: nvidia}, handler: nvidia}' >"$WORK/o"
  ask POST /apis/node.k8s.io/v1/runtimeclasses "$WORK/o" >/dev/null
  ask POST /apis/apiextensions.k8s.io/v1/customresourcedefinitions "$CRDS/monitoring.coreos.com_servicemonitors.yaml" >/dev/null
  within 30 'ServiceMonitors are known' ask GET /apis/monitoring.coreos.com/v1/servicemonitors
}

# installs NAME HELM-ARGUMENTS...: also every pod that would be made of it is let in.
installs() {
  local name=$1
  shift
  helm install "$name" deploy/helm/ranking "$@" >/dev/null || die "helm install $name $*"
  ask GET "/apis/apps/v1/namespaces/ranking/deployments/$name" >"$WORK/$name.json"
  pod_of "$WORK/$name.json" "$name-pod" >"$WORK/$name-pod.json"
  ask POST '/api/v1/namespaces/ranking/pods?fieldValidation=Strict' "$WORK/$name-pod.json" >"$WORK/$name-kept.json" || die "the pod of $name: $(cat "$WORK/$name-kept.json")"
  say "installed $name: $(helm get manifest "$name" | sed -n 's/^kind: //p' | sort | tr '\n' ' ')and its pod is let in"
}

# The pod that the controller would make of a Deployment.
pod_of() {
  "$PYTHON" -c 'import json, sys
template = json.load(open(sys.argv[1]))["spec"]["template"]
template["metadata"] = {"name": sys.argv[2], "labels": template["metadata"]["labels"]}
print(json.dumps({"apiVersion": "v1", "kind": "Pod", **template}))' "$@"
}

# A server that let everything in would prove nothing.
refuses_what_is_wrong() {
  sed 's/"allowPrivilegeEscalation": *false/"allowPrivilegeEscalation": true/; s/"plain-pod"/"loose-pod"/' "$WORK/plain-pod.json" >"$WORK/loose.json"
  refused 'violates PodSecurity' POST /api/v1/namespaces/ranking/pods "$WORK/loose.json"
  sed 's/"readOnlyRootFilesystem"/"readOnlyRootFilesystems"/; s/"plain-pod"/"wrong-pod"/' "$WORK/plain-pod.json" >"$WORK/wrong.json"
  refused 'unknown field' POST '/api/v1/namespaces/ranking/pods?fieldValidation=Strict' "$WORK/wrong.json"
  ! helm install often deploy/helm/ranking --set serviceMonitor.enabled=true,serviceMonitor.interval=often >"$WORK/often" 2>&1 ||
    die 'a ServiceMonitor with a wrong interval was accepted'
  grep -q 'interval' "$WORK/often" || die "refused, but not for the interval: $(cat "$WORK/often")"
  helm uninstall often >/dev/null
}

# A release is changed in place, rolled back, and leaves nothing.
lives() {
  helm upgrade plain deploy/helm/ranking --set autoscaling.enabled=false,replicas=7 >/dev/null
  ask GET /apis/apps/v1/namespaces/ranking/deployments/plain >"$WORK/upgraded.json"
  grep -q '"replicas": *7' "$WORK/upgraded.json" || die 'the upgrade did not arrive'
  helm rollback plain 1 >/dev/null
  ask GET /apis/autoscaling/v2/namespaces/ranking/horizontalpodautoscalers/plain >/dev/null || die 'the rollback did not arrive'
  local name left
  for name in plain all gpu; do helm uninstall "$name" >/dev/null; done
  left=$(for kind in apps/v1/namespaces/ranking/deployments policy/v1/namespaces/ranking/poddisruptionbudgets \
    networking.k8s.io/v1/namespaces/ranking/networkpolicies autoscaling/v2/namespaces/ranking/horizontalpodautoscalers \
    monitoring.coreos.com/v1/namespaces/ranking/servicemonitors; do ask GET "/apis/$kind" | grep -o '"app.kubernetes.io/instance":"[a-z]*"' || true; done)
  [ -z "$left" ] || die "left behind: $left"
}

if [ "${1:-}" = --build ]; then build; fi
[ -x "$PLANE/kube-apiserver" ] && [ -x "$PLANE/etcd" ] || { say 'SKIPPED: no kube-apiserver here; deploy/helm/apiserver.sh --build makes it'; exit 0; }
trap clean_up EXIT
tools
start
say "$("$PLANE/kube-apiserver" --version)"
prepare
installs plain
installs all --set serviceMonitor.enabled=true,networkPolicy.from[0].podSelector.matchLabels.app=rag,podAnnotations.a=b,nodeSelector.disk=ssd
installs gpu -f deploy/helm/ranking/values-trtmc.yaml
refuses_what_is_wrong
lives
say 'passed'
