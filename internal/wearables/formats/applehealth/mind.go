package applehealth

import "hale/internal/wearables/derive"

// mind is rest, light and habits.
var mind = []rule{
	{name: category + "SleepAnalysis", shape: sleepStage},
	{name: category + "SleepApneaEvent", shape: occurrence, resource: "sleep_apnea_alert"},
	{name: quantity + "AppleSleepingBreathingDisturbances", shape: span, resource: "sleep_breathing_disturbance", units: inCount},
	{name: category + "MindfulSession", shape: minutes, resource: "mindfulness_minutes"},
	{name: category + "HandwashingEvent", shape: occurrence, resource: "handwashing"},
	{name: quantity + "TimeInDaylight", shape: span, resource: "daylight_exposure", units: inMinutes},
	{name: quantity + "UVExposure", shape: span, resource: "uv_exposure", units: inCount},
}

// sleepStages maps the stages of SleepAnalysis to the codes of the API. InBed is no stage
// but the bounds of a night. Older exports use Asleep in place of AsleepUnspecified.
var sleepStages = map[string]int8{
	"HKCategoryValueSleepAnalysisInBed":             derive.InBed,
	"HKCategoryValueSleepAnalysisAsleep":            derive.Asleep,
	"HKCategoryValueSleepAnalysisAsleepUnspecified": derive.Asleep,
	"HKCategoryValueSleepAnalysisAsleepDeep":        derive.Deep,
	"HKCategoryValueSleepAnalysisAsleepCore":        derive.Light,
	"HKCategoryValueSleepAnalysisAsleepREM":         derive.REM,
	"HKCategoryValueSleepAnalysisAwake":             derive.Awake,
}
