package situations

// Rows about time: zones, days and clocks.
func timeRows() []situation {
	return []situation{
		{"a day is local to the zone of the push", []step{
			push("steps", "health_connect", "America/New_York", `{"timestamp":"2026-03-02T02:00:00Z","end":"2026-03-02T02:05:00Z","value":210}`),
		}, []truth{daily("steps", "date total", "2026-03-01 210")}},
	}
}
