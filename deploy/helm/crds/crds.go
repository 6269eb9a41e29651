// Package crds pins what the schemas of custom resources in the chart are made from: the Prometheus operator's own types, and the
// generator that the operator uses. See schemas in ../tools.sh.
package crds

import _ "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1" // ServiceMonitor
