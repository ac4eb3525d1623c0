// Package ops contains the log, metrics, traces and health checks of a running Hale.
//
// None of them contains personal data. The log has ids and outcomes; log.go withholds
// the rest as the last defense. Labels of metrics name neither team nor user. Spans have
// a route template and never a path. A failing health check gives its name.
//
//	log.go      text or JSON lines without private values
//	metrics.go  counters, histograms and gauges, and their allowed labels
//	traces.go   a span for each request, sent to a collector if one is configured
//	health.go   /livez and /readyz, the disk check, the listener for monitoring
//	memory.go   the soft memory limit in a container
package ops
