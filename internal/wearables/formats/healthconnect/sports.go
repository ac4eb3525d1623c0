package healthconnect

import (
	"hale/internal/wearables/derive"
	"hale/internal/wearables/formats/sports"
)

// exercises lists the platform's types of exercise by their number, from 0.
// Each has its name in HealthKit's list, or its own name if that list has none.
//
// Source: android.health.connect.datatypes.ExerciseSessionType.
var exercises = []string{
	"Other", "Badminton", "Baseball", "Basketball", "Cycling", "StationaryCycling", "BootCamp", "Boxing", "Calisthenics", "Cricket",
	"Dance", "ExerciseClass", "Fencing", "AmericanFootball", "AustralianFootball", "DiscSports", "Golf", "MindAndBody", "Gymnastics",
	"Handball", "HighIntensityIntervalTraining", "Hiking", "Hockey", "SkatingSports", "MartialArts", "PaddleSports", "Paragliding",
	"Pilates", "Racquetball", "Climbing", "RollerHockey", "Rowing", "Rugby", "Running", "TreadmillRunning", "Sailing",
	"UnderwaterDiving", "SkatingSports", "DownhillSkiing", "Snowboarding", "SnowSports", "Soccer", "Softball", "Squash",
	"StairClimbing", "TraditionalStrengthTraining", "Flexibility", "SurfingSports", "OpenWaterSwimming", "Swimming", "TableTennis",
	"Tennis", "Volleyball", "Walking", "WaterPolo", "TraditionalStrengthTraining", "WheelchairWalkPace", "Yoga", "Other",
	"StairClimbing", "Elliptical", "Rowing",
}

// sportOf returns the sport of the platform's number of an exercise. For a number that is
// newer than the list it returns OtherSport.
func sportOf(code int64) derive.Sport {
	if code < 0 || code >= int64(len(exercises)) {
		return sports.OtherSport
	}
	return sports.NamedSport(exercises[code])
}
