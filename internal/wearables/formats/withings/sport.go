package withings

import (
	"hale/internal/wearables/derive"
	"hale/internal/wearables/formats/sports"
)

// sportNames maps categories to names in HealthKit's list, or to words if the list has no
// such sport.
//
// Withings' reference, Measure v2 - Getworkouts.
var sportNames = map[int64]string{
	1: "Walking", 2: "Running", 3: "Hiking", 4: "SkatingSports", 5: "Cycling", 6: "Cycling", 7: "Swimming",
	8: "SurfingSports", 9: "SurfingSports", 10: "SurfingSports", 11: "SurfingSports", 12: "Tennis", 13: "TableTennis",
	14: "Squash", 15: "Badminton", 16: "TraditionalStrengthTraining", 17: "FunctionalStrengthTraining", 18: "Elliptical",
	19: "Pilates", 20: "Basketball", 21: "Soccer", 22: "AmericanFootball", 23: "Rugby", 24: "Volleyball", 25: "WaterPolo",
	26: "EquestrianSports", 27: "Golf", 28: "Yoga", 29: "Dance", 30: "Boxing", 31: "Fencing", 32: "Wrestling",
	33: "MartialArts", 34: "DownhillSkiing", 35: "Snowboarding", 187: "Rowing", 188: "CardioDance", 191: "Baseball",
	192: "Handball", 193: "Hockey", 194: "Hockey", 195: "Climbing", 196: "SkatingSports", 272: "SwimBikeRun",
	306: "Walking", 307: "Running", 308: "Cycling",
}

// sportOf returns the sport of a category.
func sportOf(category int64) derive.Sport { return sports.NamedSport(sportNames[category]) }
