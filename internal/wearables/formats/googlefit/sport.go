package googlefit

import (
	"hale/internal/wearables/derive"
	"hale/internal/wearables/formats/sports"
)

// sportOf returns the sport of an activity. ok is false for activities that are
// no sport: being in a vehicle, standing still, elevators, and movement that
// the platform did not recognize.
func sportOf(code float64) (sport derive.Sport, ok bool) {
	if code < 0 || code >= float64(len(activityNames)) || code != float64(int(code)) {
		return sport, false
	}
	name := activityNames[int(code)]
	if name == "" {
		return sport, false
	}
	return sports.NamedSport(name), true
}

// activityNames are the platform's activities by their numbers, in the words
// of HealthKit's list where it has one.
var activityNames = [...]string{
	1: "Cycling", 2: "Walking", 7: "Walking", 8: "Running", 9: "Aerobics", 10: "Badminton", 11: "Baseball", 12: "Basketball",
	13: "Biathlon", 14: "HandCycling", 15: "Cycling", 16: "Cycling", 17: "Cycling", 18: "Cycling", 19: "Cycling", 20: "Boxing",
	21: "Calisthenics", 22: "CircuitTraining", 23: "Cricket", 24: "Dance", 25: "Elliptical", 26: "Fencing", 27: "AmericanFootball",
	28: "AustralianFootball", 29: "Soccer", 30: "DiscSports", 31: "Gardening", 32: "Golf", 33: "Gymnastics", 34: "Handball",
	35: "Hiking", 36: "Hockey", 37: "EquestrianSports", 38: "HouseWork", 39: "JumpRope", 40: "PaddleSports",
	41: "TraditionalStrengthTraining", 42: "Kickboxing", 43: "SurfingSports", 44: "MartialArts", 46: "MartialArts",
	47: "CrossTraining", 48: "Paragliding", 49: "Pilates", 50: "Polo", 51: "Racquetball", 52: "Climbing", 53: "Rowing", 54: "Rowing",
	55: "Rugby", 56: "Running", 57: "Running", 58: "Running", 59: "Sailing", 60: "UnderwaterDiving", 61: "Skateboarding",
	62: "SkatingSports", 63: "SkatingSports", 64: "SkatingSports", 65: "DownhillSkiing", 66: "CrossCountrySkiing",
	67: "CrossCountrySkiing", 68: "DownhillSkiing", 69: "SnowSports", 70: "SkatingSports", 71: "SnowSports", 73: "Snowboarding",
	74: "Snowmobile", 75: "SnowSports", 76: "Squash", 77: "StairClimbing", 78: "StairClimbing", 79: "PaddleSports",
	80: "TraditionalStrengthTraining", 81: "SurfingSports", 82: "Swimming", 83: "Swimming", 84: "Swimming", 85: "TableTennis",
	86: "TeamSports", 87: "Tennis", 88: "Treadmill", 89: "Volleyball", 90: "Volleyball", 91: "Volleyball", 92: "WaterSports",
	93: "Walking", 94: "Walking", 95: "Walking", 96: "WaterPolo", 97: "TraditionalStrengthTraining", 98: "WheelchairWalkPace",
	99: "SurfingSports", 100: "Yoga", 101: "CardioDance", 102: "Diving", 103: "Ergometer", 104: "SkatingSports",
	105: "SkatingSports", 106: "Curling", 108: "Other", 113: "CrossTraining", 114: "HighIntensityIntervalTraining",
	115: "HighIntensityIntervalTraining", 116: "Walking", 119: "Archery", 120: "Softball",
}
