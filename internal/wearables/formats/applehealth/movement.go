package applehealth

// movement maps activity of the body: sums over an interval.
//
// The sport of the source separates distance by bicycle, in water, on snow and in a
// wheelchair from distance on foot.
var movement = []rule{
	{name: quantity + "StepCount", shape: span, resource: "steps", units: inCount},
	{name: quantity + "DistanceWalkingRunning", shape: span, resource: "distance", units: inMetres},
	{name: quantity + "DistanceCycling", shape: span, resource: "distance", sport: "cycling", units: inMetres},
	{name: quantity + "DistanceSwimming", shape: span, resource: "distance", sport: "swimming", units: inMetres},
	{name: quantity + "DistanceWheelchair", shape: span, resource: "distance", sport: "wheelchair_pushing", units: inMetres},
	{name: quantity + "DistanceDownhillSnowSports", shape: span, resource: "distance", sport: "downhill_skiing", units: inMetres},
	{name: quantity + "DistanceCrossCountrySkiing", shape: span, resource: "distance", sport: "cross_country_skiing", units: inMetres},
	{name: quantity + "DistanceRowing", shape: span, resource: "distance", sport: "rowing", units: inMetres},
	{name: quantity + "DistancePaddleSports", shape: span, resource: "distance", sport: "paddle_sports", units: inMetres},
	{name: quantity + "DistanceSkatingSports", shape: span, resource: "distance", sport: "skating_sports", units: inMetres},
	{name: quantity + "SwimmingStrokeCount", shape: span, resource: "workout_swimming_stroke", sport: "swimming", units: inCount},
	{name: quantity + "PushCount", shape: span, resource: "wheelchair_push", units: inCount},
	{name: quantity + "ActiveEnergyBurned", shape: span, resource: "calories_active", units: inKilocalories},
	{name: quantity + "BasalEnergyBurned", shape: span, resource: "calories_basal", units: inKilocalories},
	{name: quantity + "FlightsClimbed", shape: span, resource: "floors_climbed", units: inCount},
	{name: quantity + "AppleExerciseTime", shape: span, resource: "workout_duration", units: inMinutes},
	{name: quantity + "AppleStandTime", shape: span, resource: "stand_duration", units: inMinutes},
	{name: category + "AppleStandHour", shape: standHour, resource: "stand_hour"},
	{name: quantity + "NumberOfTimesFallen", shape: span, resource: "fall", units: inCount},
}
