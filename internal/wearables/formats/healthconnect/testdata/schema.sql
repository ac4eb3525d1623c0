-- The tables that are read, with the columns that are read and the generated
-- ones beside them, as version 14 of the platform's schema has them.
CREATE TABLE application_info_table (row_id INTEGER PRIMARY KEY, package_name TEXT NOT NULL UNIQUE, app_name TEXT, app_icon BLOB);
CREATE TABLE device_info_table (row_id INTEGER PRIMARY KEY, manufacturer TEXT, model TEXT, device_type INTEGER);
CREATE TABLE health_data_category_priority_table (row_id INTEGER PRIMARY KEY, health_data_category INTEGER UNIQUE, app_id_priority_order TEXT NOT NULL);

CREATE TABLE steps_record_table (row_id INTEGER PRIMARY KEY AUTOINCREMENT, uuid BLOB UNIQUE, device_info_id INTEGER, app_info_id INTEGER, recording_method INTEGER, start_time INTEGER, start_zone_offset INTEGER, end_time INTEGER, end_zone_offset INTEGER, local_date INTEGER, count INTEGER, local_date_time_start_time INTEGER AS (start_time + 1000 * start_zone_offset));
CREATE TABLE distance_record_table (row_id INTEGER PRIMARY KEY AUTOINCREMENT, device_info_id INTEGER, app_info_id INTEGER, recording_method INTEGER, start_time INTEGER, start_zone_offset INTEGER, end_time INTEGER, end_zone_offset INTEGER, distance REAL);
CREATE TABLE active_calories_burned_record_table (row_id INTEGER PRIMARY KEY AUTOINCREMENT, device_info_id INTEGER, app_info_id INTEGER, recording_method INTEGER, start_time INTEGER, start_zone_offset INTEGER, end_time INTEGER, end_zone_offset INTEGER, energy REAL);
CREATE TABLE total_calories_burned_record_table (row_id INTEGER PRIMARY KEY AUTOINCREMENT, device_info_id INTEGER, app_info_id INTEGER, recording_method INTEGER, start_time INTEGER, start_zone_offset INTEGER, end_time INTEGER, end_zone_offset INTEGER, energy REAL);
CREATE TABLE elevation_gained_record_table (row_id INTEGER PRIMARY KEY AUTOINCREMENT, device_info_id INTEGER, app_info_id INTEGER, recording_method INTEGER, start_time INTEGER, start_zone_offset INTEGER, end_time INTEGER, end_zone_offset INTEGER, elevation REAL);
CREATE TABLE floors_climbed_record_table (row_id INTEGER PRIMARY KEY AUTOINCREMENT, device_info_id INTEGER, app_info_id INTEGER, recording_method INTEGER, start_time INTEGER, start_zone_offset INTEGER, end_time INTEGER, end_zone_offset INTEGER, floors REAL);
CREATE TABLE wheelchair_pushes_record_table (row_id INTEGER PRIMARY KEY AUTOINCREMENT, device_info_id INTEGER, app_info_id INTEGER, recording_method INTEGER, start_time INTEGER, start_zone_offset INTEGER, end_time INTEGER, end_zone_offset INTEGER, count INTEGER);
CREATE TABLE hydration_record_table (row_id INTEGER PRIMARY KEY AUTOINCREMENT, device_info_id INTEGER, app_info_id INTEGER, recording_method INTEGER, start_time INTEGER, start_zone_offset INTEGER, end_time INTEGER, end_zone_offset INTEGER, volume REAL);
CREATE TABLE nutrition_record_table (row_id INTEGER PRIMARY KEY AUTOINCREMENT, uuid BLOB UNIQUE, device_info_id INTEGER, app_info_id INTEGER, recording_method INTEGER, start_time INTEGER, start_zone_offset INTEGER, end_time INTEGER, end_zone_offset INTEGER, caffeine REAL, total_carbohydrate REAL, meal_name TEXT);
CREATE TABLE mindfulness_session_record_table (row_id INTEGER PRIMARY KEY AUTOINCREMENT, device_info_id INTEGER, app_info_id INTEGER, recording_method INTEGER, start_time INTEGER, start_zone_offset INTEGER, end_time INTEGER, end_zone_offset INTEGER, type INTEGER);

CREATE TABLE heart_rate_record_table (row_id INTEGER PRIMARY KEY AUTOINCREMENT, device_info_id INTEGER, app_info_id INTEGER, recording_method INTEGER, start_time INTEGER, start_zone_offset INTEGER, end_time INTEGER, end_zone_offset INTEGER);
CREATE TABLE heart_rate_record_series_table (parent_key INTEGER, beats_per_minute INTEGER, epoch_millis INTEGER);
CREATE INDEX idx_heart_rate_record_series_table_0 ON heart_rate_record_series_table(parent_key);
CREATE TABLE skin_temperature_record_table (row_id INTEGER PRIMARY KEY AUTOINCREMENT, device_info_id INTEGER, app_info_id INTEGER, recording_method INTEGER, start_time INTEGER, start_zone_offset INTEGER, end_time INTEGER, end_zone_offset INTEGER, measurement_location INTEGER NOT NULL, baseline REAL);
CREATE TABLE skin_temperature_delta_table (parent_key INTEGER, delta REAL NOT NULL, epoch_millis INTEGER NOT NULL);

CREATE TABLE resting_heart_rate_record_table (row_id INTEGER PRIMARY KEY AUTOINCREMENT, device_info_id INTEGER, app_info_id INTEGER, recording_method INTEGER, time INTEGER, zone_offset INTEGER, beats_per_minute INTEGER);
CREATE TABLE heart_rate_variability_rmssd_record_table (row_id INTEGER PRIMARY KEY AUTOINCREMENT, device_info_id INTEGER, app_info_id INTEGER, recording_method INTEGER, time INTEGER, zone_offset INTEGER, heart_rate_variability_millis REAL NOT NULL);
CREATE TABLE oxygen_saturation_record_table (row_id INTEGER PRIMARY KEY AUTOINCREMENT, device_info_id INTEGER, app_info_id INTEGER, recording_method INTEGER, time INTEGER, zone_offset INTEGER, percentage REAL);
CREATE TABLE respiratory_rate_record_table (row_id INTEGER PRIMARY KEY AUTOINCREMENT, device_info_id INTEGER, app_info_id INTEGER, recording_method INTEGER, time INTEGER, zone_offset INTEGER, rate REAL);
CREATE TABLE body_temperature_record_table (row_id INTEGER PRIMARY KEY AUTOINCREMENT, device_info_id INTEGER, app_info_id INTEGER, recording_method INTEGER, time INTEGER, zone_offset INTEGER, measurement_location INTEGER, temperature REAL);
CREATE TABLE basal_body_temperature_record_table (row_id INTEGER PRIMARY KEY AUTOINCREMENT, device_info_id INTEGER, app_info_id INTEGER, recording_method INTEGER, time INTEGER, zone_offset INTEGER, measurement_location INTEGER, temperature REAL);
CREATE TABLE blood_glucose_record_table (row_id INTEGER PRIMARY KEY AUTOINCREMENT, device_info_id INTEGER, app_info_id INTEGER, recording_method INTEGER, time INTEGER, zone_offset INTEGER, specimen_source TEXT NOT NULL, level REAL);
CREATE TABLE blood_pressure_record_table (row_id INTEGER PRIMARY KEY AUTOINCREMENT, device_info_id INTEGER, app_info_id INTEGER, recording_method INTEGER, time INTEGER, zone_offset INTEGER, measurement_location TEXT NOT NULL, systolic REAL, diastolic REAL);
CREATE TABLE vo2_max_record_table (row_id INTEGER PRIMARY KEY AUTOINCREMENT, device_info_id INTEGER, app_info_id INTEGER, recording_method INTEGER, time INTEGER, zone_offset INTEGER, vo2_milliliters_per_minute_kilogram REAL);
CREATE TABLE weight_record_table (row_id INTEGER PRIMARY KEY AUTOINCREMENT, uuid BLOB UNIQUE, device_info_id INTEGER, app_info_id INTEGER, recording_method INTEGER, time INTEGER, zone_offset INTEGER, weight REAL);
CREATE TABLE body_fat_record_table (row_id INTEGER PRIMARY KEY AUTOINCREMENT, device_info_id INTEGER, app_info_id INTEGER, recording_method INTEGER, time INTEGER, zone_offset INTEGER, percentage REAL);
CREATE TABLE lean_body_mass_record_table (row_id INTEGER PRIMARY KEY AUTOINCREMENT, device_info_id INTEGER, app_info_id INTEGER, recording_method INTEGER, time INTEGER, zone_offset INTEGER, mass REAL);
CREATE TABLE height_record_table (row_id INTEGER PRIMARY KEY AUTOINCREMENT, device_info_id INTEGER, app_info_id INTEGER, recording_method INTEGER, time INTEGER, zone_offset INTEGER, height REAL);
CREATE TABLE basal_metabolic_rate_record_table (row_id INTEGER PRIMARY KEY AUTOINCREMENT, device_info_id INTEGER, app_info_id INTEGER, recording_method INTEGER, time INTEGER, zone_offset INTEGER, basal_metabolic_rate REAL);

CREATE TABLE sleep_session_record_table (row_id INTEGER PRIMARY KEY AUTOINCREMENT, uuid BLOB UNIQUE, device_info_id INTEGER, app_info_id INTEGER, recording_method INTEGER, start_time INTEGER, start_zone_offset INTEGER, end_time INTEGER, end_zone_offset INTEGER, local_date INTEGER, notes TEXT, title TEXT);
CREATE TABLE sleep_stages_table (parent_key INTEGER NOT NULL, stage_start_time INTEGER NOT NULL, stage_end_time INTEGER NOT NULL, stage_type INTEGER NOT NULL);
CREATE TABLE exercise_session_record_table (row_id INTEGER PRIMARY KEY AUTOINCREMENT, uuid BLOB UNIQUE, device_info_id INTEGER, app_info_id INTEGER, recording_method INTEGER, start_time INTEGER, start_zone_offset INTEGER, end_time INTEGER, end_zone_offset INTEGER, notes TEXT, exercise_type INTEGER, title TEXT, has_route INTEGER);
CREATE TABLE exercise_route_table (parent_key INTEGER NOT NULL, timestamp_millis INTEGER NOT NULL, longitude REAL NOT NULL, latitude REAL NOT NULL, horizontal_accuracy REAL NOT NULL, vertical_accuracy REAL NOT NULL, altitude REAL NOT NULL);
