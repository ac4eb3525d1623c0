package webhooks

// Wake looks for due deliveries now, as after the clock was moved.
func (d *Deliverer) Wake() {
	for _, l := range d.all() {
		l.poke(laneFirst, laneRetry, laneReplay)
	}
}
