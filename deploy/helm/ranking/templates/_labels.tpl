{{- define "ranking.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}
{{- define "ranking.labels" -}}
{{ include "ranking.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}
{{- define "ranking.confined" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: {drop: [ALL]}
{{- end }}
{{- /* Four fifths of a limit in Mi or Gi, in MiB; nothing for other units. */ -}}
{{- define "ranking.goMemory" -}}
{{- if hasSuffix "Mi" . }}{{ mulf (trimSuffix "Mi" . | float64) 0.8 | int }}MiB
{{- else if hasSuffix "Gi" . }}{{ mulf (trimSuffix "Gi" . | float64) 1024 0.8 | int }}MiB
{{- end }}
{{- end }}
