// Package ops contains the log, metrics, traces and health checks of a running Hale.
//
// None of them contains personal data. The log has ids and outcomes; log.go withholds
// the rest as the last defense. Labels of metrics name neither team nor user. Spans have
// a route template and never a path. A failing health check gives its name.
//
//	log.go      text or JSON lines, with the last line of defence
//	metrics.go  the registry and what is in it; labels.go what labels may say
//	gauges.go   figures that are asked for at each scrape
//	traces.go   a span for each request, sent to a collector when there is one
//	health.go   /livez and /readyz; disk.go the room on the data folder's disk
//	memory.go   the soft memory limit in a container
//	server.go   the separate listener for machines
package ops
