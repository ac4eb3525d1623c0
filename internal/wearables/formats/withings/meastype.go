package withings

// These are the measure types that the code uses.
const (
	weight    = 1
	height    = 4
	lean      = 5
	fatRatio  = 6
	diastolic = 9
	systolic  = 10
	pulse     = 11
	oxygen    = 54
	bodyTemp  = 71
	muscle    = 76
	water     = 77
	bone      = 88
	visceral  = 170
	vo2Max    = 123
)

// measureNames maps types of measures to their names in reports. The type temperature,
// without a prefix, is the temperature of the room, which some scales measure.
//
// Withings' reference, Measure - Getmeas.
var measureNames = map[int64]string{
	weight: "weight", height: "height", lean: "fat_free_mass", fatRatio: "fat_ratio", 8: "fat_mass",
	diastolic: "diastolic", systolic: "systolic", pulse: "heart_pulse", 12: "temperature", 18: "unknown_18", 35: "co2",
	oxygen: "spo2", bodyTemp: "body_temperature", 73: "skin_temperature", muscle: "muscle_mass", water: "hydration",
	bone: "bone_mass", 91: "pulse_wave_velocity", vo2Max: "vo2_max", 130: "afib_ecg", 135: "qrs_interval",
	136: "pr_interval", 137: "qt_interval", 138: "corrected_qt_interval", 139: "afib_ppg", 155: "vascular_age",
	158: "nerve_health_left", 159: "nerve_health_right", 167: "nerve_health", 168: "extracellular_water",
	169: "intracellular_water", visceral: "visceral_fat", 173: "fat_free_mass_segment", 174: "fat_mass_segment",
	175: "muscle_mass_segment", 196: "electrodermal_activity", 197: "electrodermal_activity_left",
	198: "electrodermal_activity_right", 226: "basal_metabolic_rate", 227: "metabolic_age",
	229: "skin_conductance",
}

// measureName returns the name of a type in reports.
func measureName(kind int64) string {
	if name, ok := measureNames[kind]; ok {
		return "measure." + name
	}
	return "measure.other"
}
