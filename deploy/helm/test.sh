#!/usr/bin/env bash
# Renders the chart in every variant, with helm itself, and holds what comes out to the schemas of Kubernetes; then apiserver.sh.
set -euo pipefail
cd "$(dirname "$0")/../.."
source deploy/helm/tools.sh
KUBERNETES=1.34
WORK=$(mktemp -d)
trap 'rm -rf "$WORK"' EXIT
die() { printf 'test-chart: FAILED: %s\n' "$*" >&2; exit 1; }

# variant NAME HELM-ARGUMENTS...: what it holds is in $WORK/NAME.yaml.
variant() {
  local name=$1
  shift
  helm lint --strict --quiet deploy/helm/ranking "$@" || die "lint of $name"
  helm template --kube-version "$KUBERNETES" ranking deploy/helm/ranking "$@" >"$WORK/$name.yaml" || die "rendering $name"
  # Kubernetes has no schema of the operator's ServiceMonitor; the operator has.
  awk 'BEGIN { RS = "---\n"; ORS = RS } !/kind: ServiceMonitor/' "$WORK/$name.yaml" >"$WORK/$name-core.yaml"
  "$TOOLS/kubernetes-validate/bin/kubernetes-validate" --strict --quiet -k "$KUBERNETES" "$WORK/$name-core.yaml" || die "$name breaks the schema"
}

# holds NAME TEXT / lacks NAME TEXT
holds() { grep -qF -- "$2" "$WORK/$1.yaml" || die "$1 lacks: $2"; }
lacks() { ! grep -qF -- "$2" "$WORK/$1.yaml" || die "$1 holds: $2"; }

tools
variant fraction --set proxy.resources.limits.memory=1.5Gi
holds fraction 'name: GOMEMLIMIT, value: 1228MiB'
variant default
holds default 'terminationGracePeriodSeconds: 45'
holds default 'name: GOMEMLIMIT, value: 204MiB'
holds default 'kind: HorizontalPodAutoscaler'
holds default 'kind: NetworkPolicy'
lacks default 'kind: ServiceMonitor'
lacks default 'replicas: 2'
variant fixed --set autoscaling.enabled=false,networkPolicy.enabled=false,replicas=7
holds fixed 'replicas: 7'
lacks fixed 'kind: HorizontalPodAutoscaler'
lacks fixed 'kind: NetworkPolicy'
variant all --set serviceMonitor.enabled=true,serviceMonitor.labels.release=monitoring,nodeSelector.disk=ssd,podAnnotations.a=b,runtimeClassName=c \
  --set 'imagePullSecrets[0].name=registry,tolerations[0].operator=Exists,networkPolicy.from[0].podSelector.matchLabels.app=rag' \
  --set proxy.env.RANKING_PROXY_RECORDS=/records/r.jsonl
holds all 'kind: ServiceMonitor'
holds all 'app: rag'
service_monitor() { "$PYTHON" deploy/helm/custom_resource.py "$CRDS/monitoring.coreos.com_servicemonitors.yaml" "$1"; }
service_monitor "$WORK/all.yaml" || die 'the ServiceMonitor breaks the schema of its operator'
variant trtmc -f deploy/helm/ranking/values-trtmc.yaml
holds trtmc 'nvidia.com/gpu: 1'
lacks trtmc 'type: ContainerResource'

# A schema check that accepts anything would prove nothing.
sed 's/terminationGracePeriodSeconds/terminationGracePeriodSecond/' "$WORK/default-core.yaml" >"$WORK/wrong.yaml"
! "$TOOLS/kubernetes-validate/bin/kubernetes-validate" --strict --quiet -k "$KUBERNETES" "$WORK/wrong.yaml" >/dev/null 2>&1 || die 'the schema check accepts a wrong field'
for change in s/endpoints:/endpoint:/ s/interval:/intervals:/ 's/interval: 5s/interval: often/'; do
  sed "$change" "$WORK/all.yaml" >"$WORK/wrong.yaml"
  ! service_monitor "$WORK/wrong.yaml" 2>/dev/null || die "the check of the ServiceMonitor accepts $change"
done
deploy/helm/apiserver.sh
printf 'test-chart: passed\n' >&2
