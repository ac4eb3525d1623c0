package ops

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"
)

// Gauge registers a figure that is asked for at each scrape, such as the age
// of the oldest due delivery. fn may be called concurrently.
func (m *Metrics) Gauge(name, help string, fn func() float64) {
	if m != nil {
		m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, fn))
	}
}

// GaugeBy is Gauge for a figure of each word of a closed list, which a label
// names. fn gives the words and their figures.
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

// Node registers whether this node is ready, which each scrape asks as a probe
// does, and the room on its disk as the check of it has seen it.
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
	readyDesc = prometheus.NewDesc("hale_ready", "1 when this node takes requests, 0 when not, as /readyz says.", nil, nil)
	freeDesc  = prometheus.NewDesc("data_disk_free_bytes", "What may still be written on the disk of the data folder.", nil, nil)
	sizeDesc  = prometheus.NewDesc("data_disk_size_bytes", "The size of the disk of the data folder.", nil, nil)
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
