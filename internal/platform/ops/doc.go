// Package ops is what an operator sees of a running Hale: its log, its
// metrics, its traces, its health.
//
// None of the four carries anything about a person. The log has ids and
// outcomes (log.go withholds the rest, as the last of several defences),
// metrics have neither team nor user in a label, spans have a route template
// and never a path, and a failing health check gives its name.
//
//	log.go      text or JSON lines, with the last line of defence
//	metrics.go  the registry and what is in it; labels.go what labels may say
//	gauges.go   figures that are asked for at each scrape
//	traces.go   a span for each request, sent to a collector when there is one
//	health.go   /livez and /readyz; disk.go the room on the data folder's disk
//	memory.go   the soft memory limit in a container
//	server.go   the separate listener for machines
package ops
