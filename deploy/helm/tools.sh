# Sourced: what tests of the chart need, made once and kept in .deps/tools.
HELM_VERSION=v3.19.2
TOOLS=$PWD/.deps/tools
CRDS=$TOOLS/crds
PYTHON=$TOOLS/kubernetes-validate/bin/python3

helm() { "$TOOLS/helm" "$@"; }

tools() {
  [ -x "$TOOLS/helm" ] || GOBIN=$TOOLS go install "helm.sh/helm/v3/cmd/helm@$HELM_VERSION"
  [ -x "$TOOLS/kubernetes-validate/bin/kubernetes-validate" ] ||
    { python3 -m venv "$TOOLS/kubernetes-validate" && "$TOOLS/kubernetes-validate/bin/pip" install -q --disable-pip-version-check -r deploy/helm/requirements.txt; }
  [ -s "$CRDS/monitoring.coreos.com_servicemonitors.yaml" ] || schemas
}

# The operator's schemas, made of its types as the operator itself makes them.
schemas() {
  go -C deploy/helm/crds tool controller-gen crd output:crd:dir="$CRDS" \
    paths=github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1
}
