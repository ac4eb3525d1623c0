{{- define "hale.labels" -}}
app.kubernetes.io/name: hale
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end }}

{{- define "hale.selector" -}}
app.kubernetes.io/name: hale
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "hale.name" -}}
{{ .Release.Name | trunc 50 | trimSuffix "-" }}
{{- end }}

{{- define "hale.check" -}}
{{- if not (has .Values.engine (list "sqlite" "postgres")) }}
{{- fail "engine must be sqlite or postgres" }}
{{- end }}
{{- if and (eq .Values.environment "production") (not .Values.baseURL) }}
{{- fail "baseURL is required in production: set it to what callers see" }}
{{- end }}
{{- if and .Values.ingress.enabled (not .Values.ingress.host) }}
{{- fail "ingress.host is required when ingress.enabled is true" }}
{{- end }}
{{- end }}
