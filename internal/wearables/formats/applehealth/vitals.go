package applehealth

import "hale/internal/wearables"

// insulin has the type rapid_acting if the record states a bolus. Basal insulin has no
// type: from a pump it is rapid-acting too, from a pen it is not.
const insulin = "insulin_injection"

// delivered takes in why insulin was given: 1 is basal, 2 a bolus.
func (p *pending) delivered(reason string) {
	switch reason {
	case "1":
		p.words = basalDose
	case "2":
		p.kind, p.words = "rapid_acting", bolusDose
	}
}

var (
	basalDose = wearables.ExtraText("basal", "", "")
	bolusDose = wearables.ExtraText("bolus", "", "")
)

// thermometers are the words for where one was.
//
// Source: HKBodyTemperatureSensorLocation.
var thermometers = map[string]string{
	"1": "armpit", "2": "body", "3": "ear", "4": "finger", "5": "gastrointestinal", "6": "mouth", "7": "rectum", "8": "toe",
	"9": "eardrum", "10": "temporal_artery", "11": "forehead",
}

// vitals maps measurements of heart, blood and lungs.
//
// HeartRateVariabilitySDNN is SDNN, but the reference's unit is rmssd. The number is
// stored unchanged, and its type is sdnn.
var vitals = []rule{
	{name: quantity + "HeartRate", resource: "heartrate", units: inBeats},
	{name: quantity + "RestingHeartRate", shape: restingHR, units: inBeats},
	{name: quantity + "WalkingHeartRateAverage", shape: walkingHR, units: inBeats},
	{name: quantity + "HeartRateVariabilitySDNN", resource: "hrv", kind: "sdnn", units: inMillis},
	{name: quantity + "HeartRateRecoveryOneMinute", shape: span, resource: "heart_rate_recovery_one_minute", units: inBeats},
	{name: quantity + "AtrialFibrillationBurden", shape: span, resource: "afib_burden", units: inPercent},
	{name: category + "HighHeartRateEvent", shape: occurrence, resource: "heart_rate_alert", kind: "high_heart_rate"},
	{name: category + "LowHeartRateEvent", shape: occurrence, resource: "heart_rate_alert", kind: "low_heart_rate"},
	{name: category + "IrregularHeartRhythmEvent", shape: occurrence, resource: "heart_rate_alert", kind: "irregular_rhythm"},
	{name: quantity + "OxygenSaturation", resource: "blood_oxygen", units: inPercent},
	{name: quantity + "BloodGlucose", resource: "glucose", units: inMillimoles},
	{name: quantity + "BloodPressureSystolic", shape: systolic, resource: "blood_pressure", units: inMercury},
	{name: quantity + "BloodPressureDiastolic", shape: diastolic, resource: "blood_pressure", units: inMercury},
	{name: quantity + "RespiratoryRate", resource: "respiratory_rate", units: inBreaths},
	{name: quantity + "VO2Max", shape: span, resource: "vo2_max", units: inVO2},
	{name: quantity + "BodyTemperature", shape: span, resource: "body_temperature", units: inCelsius},
	{name: quantity + "BasalBodyTemperature", shape: span, resource: "basal_body_temperature", units: inCelsius},
	{name: quantity + "ForcedExpiratoryVolume1", shape: span, resource: "forced_expiratory_volume_1", units: inLitres},
	{name: quantity + "ForcedVitalCapacity", shape: span, resource: "forced_vital_capacity", units: inLitres},
	{name: quantity + "PeakExpiratoryFlowRate", shape: span, resource: "peak_expiratory_flow_rate", units: inLitresMin},
	{name: quantity + "InsulinDelivery", shape: span, resource: insulin, units: inUnits},
	{name: quantity + "InhalerUsage", shape: span, resource: "inhaler_usage", units: inCount},
}
