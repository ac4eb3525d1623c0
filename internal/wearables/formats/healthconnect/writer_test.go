package healthconnect

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"
)

// asJSON writes the records of a database as react-native-health-connect reads
// them from a phone. It shares nothing with the readers.
func asJSON(tb testing.TB, path string) []byte {
	tb.Helper()
	db, err := sql.Open("sqlite", "file:"+escapePath.Replace(path)+"?mode=ro&immutable=1")
	if err != nil {
		tb.Fatal(err)
	}
	defer db.Close()
	all := map[string]any{}
	for record, table := range map[string]string{
		"Steps": "steps", "Distance": "distance", "ActiveCaloriesBurned": "active_calories_burned", "ElevationGained": "elevation_gained",
		"FloorsClimbed": "floors_climbed", "WheelchairPushes": "wheelchair_pushes", "Hydration": "hydration", "Nutrition": "nutrition",
		"MindfulnessSession": "mindfulness_session", "HeartRate": "heart_rate", "SkinTemperature": "skin_temperature",
		"HeartRateVariabilityRmssd": "heart_rate_variability_rmssd", "OxygenSaturation": "oxygen_saturation", "RespiratoryRate": "respiratory_rate",
		"BodyTemperature": "body_temperature", "BasalBodyTemperature": "basal_body_temperature", "BloodGlucose": "blood_glucose",
		"BloodPressure": "blood_pressure", "Vo2Max": "vo2_max", "Weight": "weight", "BodyFat": "body_fat", "LeanBodyMass": "lean_body_mass",
		"RestingHeartRate": "resting_heart_rate", "Height": "height", "SleepSession": "sleep_session", "ExerciseSession": "exercise_session",
		"TotalCaloriesBurned": "total_calories_burned", "BasalMetabolicRate": "basal_metabolic_rate",
	} {
		var records []any
		for _, row := range selectRows(tb, db, `SELECT * FROM `+table+`_record_table ORDER BY row_id`) {
			records = append(records, recordOf(tb, db, record, row))
		}
		if records != nil {
			all[record] = map[string]any{"records": records, "pageToken": nil}
		}
	}
	// If no other rule decides, the original is the record of the app that comes first.
	first := map[string]any{"BasalMetabolicRate": all["BasalMetabolicRate"]}
	delete(all, "BasalMetabolicRate")
	var text []byte
	for _, part := range []map[string]any{first, all} {
		raw, err := json.Marshal(part)
		if err != nil {
			tb.Fatal(err)
		}
		text = append(append(text, raw...), '\n')
	}
	return text
}

func selectRows(tb testing.TB, db *sql.DB, text string, arguments ...any) (all []map[string]any) {
	tb.Helper()
	rows, err := db.QueryContext(context.Background(), text, arguments...)
	if err != nil {
		tb.Fatal(err)
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		tb.Fatal(err)
	}
	for rows.Next() {
		values, into := make([]any, len(names)), make([]any, len(names))
		for i := range values {
			into[i] = &values[i]
		}
		if err := rows.Scan(into...); err != nil {
			tb.Fatal(err)
		}
		row := map[string]any{}
		for i, name := range names {
			row[name] = values[i]
		}
		all = append(all, row)
	}
	if err := rows.Err(); err != nil {
		tb.Fatal(err)
	}
	return all
}

func recordOf(tb testing.TB, db *sql.DB, record string, row map[string]any) map[string]any {
	tb.Helper()
	r := map[string]any{"metadata": metadataOf(tb, db, record, row)}
	for column, name := range map[string]string{"time": "time", "start_time": "startTime", "end_time": "endTime"} {
		if v, ok := row[column]; ok {
			r[name] = instantOf(v)
		}
	}
	for column, name := range map[string]string{"zone_offset": "zoneOffset", "start_zone_offset": "startZoneOffset", "end_zone_offset": "endZoneOffset"} {
		if seconds, ok := row[column].(int64); ok {
			r[name] = map[string]any{"totalSeconds": seconds, "id": "not read"}
		}
	}
	scaled := func(v any, units map[string]float64) any {
		n, ok := v.(float64)
		if whole, is := v.(int64); is {
			n, ok = float64(whole), true
		}
		if !ok {
			return v
		}
		in := map[string]any{}
		for unit, times := range units {
			in[unit] = n * times
		}
		return in
	}
	metres := map[string]float64{"inMeters": 1, "inKilometers": 1e-3, "inFeet": 3.28084}
	grams := map[string]float64{"inGrams": 1, "inKilograms": 1e-3, "inPounds": 0.00220462}
	switch record {
	case "Steps", "WheelchairPushes":
		r["count"] = row["count"]
	case "Distance":
		r["distance"] = scaled(row["distance"], metres)
	case "ActiveCaloriesBurned", "TotalCaloriesBurned":
		r["energy"] = scaled(row["energy"], map[string]float64{"inCalories": 1, "inKilocalories": 1e-3, "inJoules": 4.184})
	case "ElevationGained":
		r["elevation"] = scaled(row["elevation"], metres)
	case "FloorsClimbed":
		r["floors"] = row["floors"]
	case "Hydration":
		r["volume"] = scaled(row["volume"], map[string]float64{"inLiters": 1, "inMilliliters": 1000})
	case "Nutrition":
		r["mealType"], r["name"] = 0, row["meal_name"]
		for column, name := range map[string]string{"caffeine": "caffeine", "total_carbohydrate": "totalCarbohydrate"} {
			if row[column] != nil {
				r[name] = scaled(row[column], grams)
			}
		}
	case "HeartRate":
		r["samples"] = samplesOf(tb, db, "heart_rate_record_series_table", row["row_id"], func(s map[string]any) map[string]any {
			return map[string]any{"time": instantOf(s["epoch_millis"]), "beatsPerMinute": s["beats_per_minute"]}
		})
	case "SkinTemperature":
		r["measurementLocation"] = row["measurement_location"]
		r["deltas"] = samplesOf(tb, db, "skin_temperature_delta_table", row["row_id"], func(s map[string]any) map[string]any {
			return map[string]any{"time": instantOf(s["epoch_millis"]), "delta": scaled(s["delta"], map[string]float64{"inCelsius": 1})}
		})
	case "HeartRateVariabilityRmssd":
		r["heartRateVariabilityMillis"] = row["heart_rate_variability_millis"]
	case "OxygenSaturation", "BodyFat":
		r["percentage"] = row["percentage"]
	case "RespiratoryRate":
		r["rate"] = row["rate"]
	case "BodyTemperature", "BasalBodyTemperature":
		r["measurementLocation"] = row["measurement_location"]
		r["temperature"] = scaled(row["temperature"], map[string]float64{"inCelsius": 1})
	case "BloodGlucose":
		r["level"] = scaled(row["level"], map[string]float64{"inMillimolesPerLiter": 1, "inMilligramsPerDeciliter": 18})
		r["specimenSource"] = json.RawMessage(fmt.Sprint(row["specimen_source"]))
	case "BloodPressure":
		r["systolic"] = scaled(row["systolic"], map[string]float64{"inMillimetersOfMercury": 1})
		r["diastolic"] = scaled(row["diastolic"], map[string]float64{"inMillimetersOfMercury": 1})
	case "Vo2Max":
		r["vo2MillilitersPerMinuteKilogram"] = row["vo2_milliliters_per_minute_kilogram"]
	case "Weight":
		r["weight"] = scaled(row["weight"], grams)
	case "LeanBodyMass":
		r["mass"] = scaled(row["mass"], grams)
	case "RestingHeartRate":
		r["beatsPerMinute"] = row["beats_per_minute"]
	case "Height":
		r["height"] = scaled(row["height"], metres)
	case "SleepSession":
		r["stages"] = samplesOf(tb, db, "sleep_stages_table", row["row_id"], func(s map[string]any) map[string]any {
			return map[string]any{"startTime": instantOf(s["stage_start_time"]), "endTime": instantOf(s["stage_end_time"]), "stage": s["stage_type"]}
		})
	case "ExerciseSession":
		r["title"], r["exerciseType"] = row["title"], clientNumber[row["exercise_type"].(int64)]
		r["exerciseRoute"] = map[string]any{"type": "DATA", "route": samplesOf(tb, db, "exercise_route_table", row["row_id"], func(s map[string]any) map[string]any {
			height := s["altitude"]
			if v, ok := height.(float64); ok && v < 1e-300 { // the platform's value for unknown
				height = 0.0
			}
			return map[string]any{
				"time": instantOf(s["timestamp_millis"]), "latitude": s["latitude"], "longitude": s["longitude"],
				"altitude": scaled(height, metres),
			}
		})}
	}
	return r
}

// clientNumber is the client library's number of an exercise by the platform's.
var clientNumber = map[int64]int{33: 56, 53: 79, 4: 8, 57: 83, 4711: 4711}

func samplesOf(tb testing.TB, db *sql.DB, table string, row any, one func(map[string]any) map[string]any) []any {
	tb.Helper()
	all := []any{}
	for _, s := range selectRows(tb, db, `SELECT * FROM `+table+` WHERE parent_key = $1 ORDER BY rowid`, row) {
		all = append(all, one(s))
	}
	return all
}

func metadataOf(tb testing.TB, db *sql.DB, record string, row map[string]any) map[string]any {
	tb.Helper()
	meta := map[string]any{
		"id": uuid.NewSHA1(uuid.Nil, fmt.Append(nil, record, row["row_id"])).String(), "clientRecordId": nil, "clientRecordVersion": 0,
		"lastModifiedTime": "2024-07-05T00:00:00Z", "dataOrigin": "", "device": nil, "recordingMethod": row["recording_method"],
	}
	if raw, ok := row["uuid"].([]byte); ok {
		meta["id"] = uuid.UUID(raw).String()
	} else if record == "SleepSession" { // with an id it would be a night of its own
		meta["id"] = nil
	}
	for _, app := range selectRows(tb, db, `SELECT package_name FROM application_info_table WHERE row_id = $1`, row["app_info_id"]) {
		meta["dataOrigin"] = app["package_name"]
	}
	for _, device := range selectRows(tb, db, `SELECT * FROM device_info_table WHERE row_id = $1`, row["device_info_id"]) {
		meta["device"] = map[string]any{"type": device["device_type"], "manufacturer": device["manufacturer"], "model": device["model"]}
	}
	return meta
}

// instantOf writes milliseconds as an instant.
func instantOf(v any) any {
	ms, ok := v.(int64)
	if !ok {
		return v
	}
	return time.UnixMilli(ms).UTC().Format(time.RFC3339Nano)
}
