package situations

// pushCrop pushes a workout of a day without an id, between two times.
func pushCrop(start, end, more string) step {
	return pushSummaries("workouts", android, "UTC", `{"time_start":"2026-03-02T`+start+`Z","time_end":"2026-03-02T`+end+`Z","source_type":"watch"`+more+`}`)
}

// pushBeats pushes heart rate of that day.
func pushBeats() step {
	return push("heartrate", android, "", `{"timestamp":"2026-03-02T10:00:00Z","value":100,"source_type":"watch"}`, `{"timestamp":"2026-03-02T10:01:00Z","value":160,"source_type":"watch"}`,
		`{"timestamp":"2026-03-02T10:02:00Z","value":180,"source_type":"watch"}`)
}

// lateVersionRows returns the situations about versions that come after a later one.
func lateVersionRows() []situation {
	return []situation{
		{"an uncropped workout of the same start is sent again", []step{
			pushCrop("10:00:00", "11:00:00", `,"distance":10000`), pushCrop("10:00:00", "10:40:00", `,"distance":7000`), pushCrop("10:00:00", "11:00:00", `,"distance":10000`),
		}, []truth{summaries("workouts", "time_end distance", "2026-03-02T10:40:00+00:00 7000"), countEvents("daily.data.workouts.updated", 1)}},
		{"an uncropped workout without values is sent again", []step{
			pushCrop("10:00:00", "11:00:00", ""), pushCrop("10:00:00", "10:40:00", ""), pushCrop("10:00:00", "11:00:00", ""),
		}, []truth{summaries("workouts", "time_end", "2026-03-02T10:40:00+00:00")}},
		{"an uncropped workout of less than half is sent again", []step{
			pushCrop("10:00:00", "11:00:00", `,"distance":10000`), pushCrop("10:00:00", "10:25:00", `,"distance":4000`), pushCrop("10:00:00", "11:00:00", `,"distance":10000`),
		}, []truth{summaries("workouts", "time_end distance", "2026-03-02T10:25:00+00:00 4000")}},
		{"an uncropped workout with zones is sent again", []step{
			pushCrop("10:00:00", "10:02:00", ""), pushBeats(), runZones(), pushCrop("10:00:00", "10:01:15", ""), runZones(), pushCrop("10:00:00", "10:02:00", ""),
		}, []truth{summaries("workouts", "time_end", "2026-03-02T10:01:15+00:00")}},
		{"an uncropped workout of a phone is sent again", []step{
			pushRun(10000), pushApple("workouts", `{"time_start":"2026-03-01T10:00:00.211Z","time_end":"2026-03-01T10:40:00.840Z","distance":6000`), pushRun(10000),
		}, []truth{summaries("workouts", "distance", "6000")}},
	}
}

// croppedZoneRows returns the situations about heart-rate zones of workouts that moved.
func croppedZoneRows() []situation {
	return []situation{
		{"the zones of a cropped workout", []step{pushCrop("10:00:00", "10:02:00", ""), pushBeats(), runZones(), pushCrop("10:00:00", "10:01:15", ""), runZones()}, []truth{
			summaries("workouts", "hr_zones average_hr max_hr", "[0,30,0,0,15,0] 130 160"),
		}},
		{"the zones of a workout that moved", []step{pushCrop("10:00:00", "10:02:00", ""), pushBeats(), runZones(), pushCrop("10:00:45", "10:02:00", ""), runZones()}, []truth{
			summaries("workouts", "time_start hr_zones average_hr max_hr", "2026-03-02T10:00:45+00:00 [0,0,0,0,30,0] 170 180"),
		}},
		{"the zones of a provider stay at a crop", []step{
			pushCrop("10:00:00", "10:02:00", `,"hr_zones":[1,2,3,4,5,6]`), pushBeats(), pushCrop("10:00:00", "10:01:15", `,"hr_zones":[1,2,3,4,5,7]`), runZones(),
		}, []truth{summaries("workouts", "hr_zones", "[1,2,3,4,5,7]")}},
	}
}
