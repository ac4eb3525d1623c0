package ops

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Metrics contains all metrics. Units are seconds and bytes. Labels have a fixed set of
// values or are route templates; they never identify a team or a person. All methods
// are safe for concurrent use. On a nil *Metrics they do nothing.
type Metrics struct {
	registry *prometheus.Registry

	requests *prometheus.HistogramVec
	inFlight prometheus.Gauge
	replays  prometheus.Counter
	limited  prometheus.Counter
	wrong    *prometheus.CounterVec

	commits      prometheus.Histogram
	transactions prometheus.Counter

	attempts *prometheus.HistogramVec
	delay    prometheus.Histogram
	stranded prometheus.Counter

	jobs    *prometheus.HistogramVec
	records *prometheus.CounterVec
}

// httpBuckets are the bounds, in seconds, that OpenTelemetry recommends for
// http.server.request.duration.
var httpBuckets = []float64{0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10}

// commitBuckets range from an fsync that a write cache answers to an overloaded disk.
var commitBuckets = []float64{0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5}

// jobBuckets range from a small job to a long import.
var jobBuckets = []float64{0.01, 0.1, 0.5, 1, 5, 15, 60, 300, 1800}

// NewMetrics returns a registry that includes the metrics of the process. version and
// engine (sqlite or postgres) become labels of hale_build_info.
func NewMetrics(version, engine string) *Metrics {
	m := &Metrics{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "http_server_request_duration_seconds", Help: "Duration of requests.", Buckets: httpBuckets,
		}, []string{"route", "method", "status"}),
		inFlight: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "http_server_active_requests", Help: "Requests in progress.",
		}),
		replays: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "idempotency_replays_total", Help: "Stored answers returned for an idempotency key.",
		}),
		limited: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "http_server_rate_limited_total", Help: "Requests refused by the rate limit.",
		}),
		wrong: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "http_server_wrong_keys_total", Help: "Requests with a wrong API key, by answer.",
		}, []string{"status"}),
		commits: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "db_commit_seconds", Help: "Duration of durable commits.", Buckets: commitBuckets,
		}),
		transactions: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "db_transactions_total", Help: "Write transactions committed; several may share a commit.",
		}),
		attempts: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "webhook_attempt_duration_seconds", Help: "Webhook attempts by outcome.", Buckets: httpBuckets,
		}, []string{"outcome"}),
		delay: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "webhook_delivery_delay_seconds", Help: "Time from commit to the receiver's 2xx, including retries.",
			Buckets: []float64{0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 30, 300, 3600, 36000, 360000},
		}),
		stranded: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "webhook_deliveries_stranded_total", Help: "Due deliveries that only the sweep found. More than 0 is a defect.",
		}),
		jobs: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "job_duration_seconds", Help: "Background jobs by kind and outcome.", Buckets: jobBuckets,
		}, []string{"kind", "outcome"}),
		records: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "import_records_total", Help: "Records of imports by outcome.",
		}, []string{"outcome"}),
	}
	build := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "hale_build_info", Help: "Always 1; the labels have version and engine.",
		ConstLabels: prometheus.Labels{"version": version, "engine": engine},
	})
	build.Set(1)
	m.attempts.WithLabelValues("failed") // an alert sees only changes of a series that exists
	m.registry.MustRegister(build, m.requests, m.inFlight, m.replays, m.limited, m.wrong, m.commits, m.transactions,
		m.attempts, m.delay, m.stranded, m.jobs, m.records,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// Handler serves the registry in the formats of Prometheus.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{Registry: m.registry, EnableOpenMetrics: true})
}

// Request records an answered request. route is a template, not a path.
func (m *Metrics) Request(route, method string, status int, took time.Duration) {
	if m != nil {
		m.requests.WithLabelValues(routeOf(route), methodOf(method), strconv.Itoa(status)).Observe(took.Seconds())
	}
}

// InFlight counts the requests that next is handling.
func (m *Metrics) InFlight(next http.Handler) http.Handler {
	if m == nil {
		return next
	}
	return promhttp.InstrumentHandlerInFlight(m.inFlight, next)
}

// Replay records a stored answer that was returned for an idempotency key.
func (m *Metrics) Replay() {
	if m != nil {
		m.replays.Inc()
	}
}

// RateLimited records a request that the rate limit refused.
func (m *Metrics) RateLimited() {
	if m != nil {
		m.limited.Inc()
	}
}

// WrongKey records a request with a wrong API key. slowed reports whether its address
// must wait.
func (m *Metrics) WrongKey(slowed bool) {
	if m == nil {
		return
	}
	status := "401"
	if slowed {
		status = "429"
	}
	m.wrong.WithLabelValues(status).Inc()
}

// Commit records a durable commit of a number of transactions. It is a
// store.Options.Observe.
func (m *Metrics) Commit(took time.Duration, transactions int) {
	if m != nil {
		m.commits.Observe(took.Seconds())
		m.transactions.Add(float64(transactions))
	}
}

// Attempt records one webhook attempt. outcome is the result for the delivery: sent,
// retried or failed.
func (m *Metrics) Attempt(outcome string, took time.Duration) {
	if m != nil {
		m.attempts.WithLabelValues(outcome).Observe(took.Seconds())
	}
}

// Delivered records the time from the commit of an event to a 2xx of its receiver.
func (m *Metrics) Delivered(delay time.Duration) {
	if m != nil {
		m.delay.Observe(delay.Seconds())
	}
}

// Stranded records due deliveries that only the sweep found.
func (m *Metrics) Stranded(n int) {
	if m != nil {
		m.stranded.Add(float64(n))
	}
}

// Job records an ended run of a background job.
func (m *Metrics) Job(kind, outcome string, took time.Duration) {
	if m != nil {
		m.jobs.WithLabelValues(kind, outcome).Observe(took.Seconds())
	}
}

// ExpectJobs creates the series of failed jobs of some kinds, with 0. An alert does not
// see the first failure of a series that begins with 1.
func (m *Metrics) ExpectJobs(kinds []string) {
	if m != nil {
		for _, kind := range kinds {
			m.jobs.WithLabelValues(kind, "failed")
		}
	}
}

// Records counts the records of an import by outcome: mapped, skipped.
func (m *Metrics) Records(outcome string, n int) {
	if m != nil {
		m.records.WithLabelValues(outcome).Add(float64(n))
	}
}

// Gauge registers a metric that is read at each scrape, such as the age of the oldest
// due delivery. fn must be safe for concurrent use.
func (m *Metrics) Gauge(name, help string, fn func() float64) {
	if m != nil {
		m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, fn))
	}
}

// GaugeBy registers a metric like Gauge, with one value for each word of a fixed list.
// The label contains the word. fn returns the values by word.
func (m *Metrics) GaugeBy(label, name, help string, fn func() map[string]float64) {
	if m != nil {
		m.registry.MustRegister(&gaugeBy{prometheus.NewDesc(name, help, []string{label}, nil), fn})
	}
}

type gaugeBy struct {
	desc *prometheus.Desc
	fn   func() map[string]float64
}

func (g *gaugeBy) Describe(out chan<- *prometheus.Desc) { out <- g.desc }

func (g *gaugeBy) Collect(out chan<- prometheus.Metric) {
	for word, value := range g.fn() {
		out <- prometheus.MustNewConstMetric(g.desc, prometheus.GaugeValue, value, word)
	}
}

// Node registers whether this node is ready, which each scrape checks like a probe, and
// the free space of its disk at the last check.
func (m *Metrics) Node(h *Health, d *Disk) {
	if m != nil {
		m.registry.MustRegister(&node{h, d})
	}
}

type node struct {
	health *Health
	disk   *Disk
}

var (
	readyDesc = prometheus.NewDesc("hale_ready", "1 if this node accepts requests (see /readyz), otherwise 0.", nil, nil)
	freeDesc  = prometheus.NewDesc("data_disk_free_bytes", "Free bytes on the disk of the data folder.", nil, nil)
	sizeDesc  = prometheus.NewDesc("data_disk_size_bytes", "Size of the disk of the data folder.", nil, nil)
)

func (n *node) Describe(out chan<- *prometheus.Desc) {
	for _, desc := range []*prometheus.Desc{readyDesc, freeDesc, sizeDesc} {
		out <- desc
	}
}

func (n *node) Collect(out chan<- prometheus.Metric) {
	gauge := func(desc *prometheus.Desc, value float64) {
		out <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, value)
	}
	ready := 1.0
	if failed, _ := n.health.report(context.Background(), nil); failed {
		ready = 0
	}
	gauge(readyDesc, ready)
	if size := n.disk.size.Load(); size > 0 {
		gauge(freeDesc, float64(n.disk.free.Load()))
		gauge(sizeDesc, float64(size))
	}
}

// routeOf returns the label of a route template. The spellings with and without a final
// slash share one label. Requests without a route share the label unmatched, so that
// callers cannot create label values.
func routeOf(template string) string {
	if len(template) > 1 {
		template = strings.TrimSuffix(template, "/")
	}
	if template == "" || strings.HasSuffix(template, "*") {
		return "unmatched"
	}
	return template
}

// methodOf returns a method as a label. Methods without a handler share one label.
func methodOf(method string) string {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions:
		return method
	}
	return "OTHER"
}
