package situations

// Rows about identity: which records are one.
func identityRows() []situation {
	return []situation{
		{"a session sent again is one", []step{
			pushSummaries("sleep", "health_connect", "Europe/Helsinki", `{"bedtime_start":"2026-02-28T20:30:00Z","bedtime_stop":"2026-03-01T04:45:00Z","total":27000}`),
			pushSummaries("sleep", "health_connect", "Europe/Helsinki", `{"bedtime_start":"2026-02-28T20:30:00Z","bedtime_stop":"2026-03-01T04:45:00Z","total":27000}`),
		}, []truth{
			summaries("sleep", "calendar_date total", "2026-03-01 27000"),
			sent("daily.data.sleep.created", 1),
			sent("daily.data.sleep.updated", 0),
		}},
		{"steps sent again count once", []step{
			push("steps", "health_connect", "Europe/Helsinki", `{"timestamp":"2026-03-01T10:00:00Z","end":"2026-03-01T10:05:00Z","value":210}`),
			push("steps", "health_connect", "Europe/Helsinki", `{"timestamp":"2026-03-01T10:00:00Z","end":"2026-03-01T10:05:00Z","value":210}`),
		}, []truth{
			samples("steps", "timestamp value", "2026-03-01T10:00:00+00:00 210"),
			daily("steps", "date total", "2026-03-01 210"),
			queriedDays("steps", "2026-03-01T00:00:00 210"),
		}},
	}
}
