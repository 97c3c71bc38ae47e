{{- define "shop.labels" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}
{{- define "shop.pod" -}}
metadata:
  labels: {app: {{ .name }}}
spec:
  serviceAccountName: shop
  containers:
  - name: {{ .name }}
    image: {{ .image }}
    ports: [{name: http, containerPort: 8080, protocol: TCP}]
    readinessProbe: {httpGet: {path: /ready, port: http}}
    envFrom: [{configMapRef: {name: settings}}, {secretRef: {name: keys}}]
    resources: {requests: {cpu: 100m, memory: 64Mi}}
{{- end }}
