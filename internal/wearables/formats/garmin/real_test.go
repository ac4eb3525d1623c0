package garmin

import (
	"testing"

	"hale/internal/wearables/formats/replies/repliestest"
)

var realFiles = map[string]repliestest.File{
	"connectstats-last_connectstats_search_0.json":                {"activity": {20, 20}, "page": {1, 0}},
	"connectstats-last_connectstats_search_20.json":               {"activity": {20, 20}, "page": {1, 0}},
	"connectstats-last_connectstats_search_40.json":               {"activity": {20, 20}, "page": {1, 0}},
	"connectstats-last_connectstats_search_60.json":               {"no activities": {1, 0}},
	"connectstats-last_connectstats_search_multisportsingle.json": {"activity": {4, 4}, "activity of several sports": {1, 0}, "page": {1, 0}},
	"connectstats-last_connectstats_search_zerodistance.json":     {"activity": {1, 1}, "page": {1, 0}},
	"connectstats-services_activities.json":                       {"comparison": {1, 0}},
	"garth-activity_get.json":                                     {"activity": {2, 2}},
	"garth-daily_body_battery_stress_get.json":                    {"stress": {1, 1}, "stress_level.bodyBatteryValuesArray": {1, 0}},
	"garth-daily_heart_rate_get.json":                             {"heart rate": {1, 1}},
	"garth-daily_sleep_data_get.json":                             {"sleep": {1, 1}, "no sleep": {1, 0}, "sleep.averageSpO2Value": {1, 0}},
	"garth-daily_summary_list.json":                               {"daily": {2, 2}, "daily.averageStressLevel": {2, 0}, "daily.bodyBatteryChargedValue": {2, 0}, "daily.avgWakingRespirationValue": {2, 0}},
	"garth-hrv_data_get.json":                                     {"hrv": {1, 1}, "no data": {1, 0}},
	"garth-sleep_data_get.json":                                   {"sleep": {1, 1}, "sleep.averageSpO2Value": {1, 0}},
	"garth-stats_daily_hrv.json":                                  {"hrv of a night": {20, 0}},
	"garth-stats_daily_hydration.json":                            {"water": {1, 1}},
	"garth-stats_daily_sleep.json":                                {"sleep score": {20, 0}},
	"garth-stats_daily_steps.json":                                {"steps of a day": {20, 20}},
	"garth-stats_daily_stress.json":                               {"stress of a day": {20, 0}},
	"garth-weight_data_list.json":                                 {"weight": {8, 5}, "no weight": {1, 0}, "average weight": {1, 0}},
	"open-wearables-test_garmin_247.json": {
		"daily": {1, 1}, "sleep": {1, 1}, "epoch": {2, 2}, "hrv": {1, 1}, "daily.averageStressLevel": {1, 0}, "epoch.meanHeartRateInBeatsPerMinute": {2, 0},
		"other": {6, 0}, // stages of a night without the night
	},
	"open-wearables-test_garmin_import.json":   {"activity": {3, 3}},
	"open-wearables-test_garmin_workouts.json": {"activity": {1, 1}},
}

func TestRealFiles(t *testing.T) {
	repliestest.Real(t, Kind, "wearables/garmin", realFiles)
}

func TestOtherMakersAreUnlike(t *testing.T) {
	repliestest.Unlike(t, Kind, "garmin")
}
