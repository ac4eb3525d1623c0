-- A band whose app (2) knows the zone, -04:00, a second app (5) that copies it
-- and writes 0 for the zone, and a scale's app (3) that never knows the zone.
-- Day 1 is 2024-07-01; its midnight there is 1719806400000.
INSERT INTO application_info_table (row_id, package_name, app_name) VALUES
 (2, 'com.mi.health', 'Band'), (3, 'com.renpho.health', 'Scale'), (5, 'com.google.android.apps.fitness', 'Fit'), (7, 'com.example.diary', 'Diary'), (8, 'not a package', 'x');
INSERT INTO device_info_table VALUES (1, 'Maker', 'Band', 0), (2, 'Maker', 'Watch', 1);
INSERT INTO health_data_category_priority_table VALUES (1, 1, '2,5');

-- 1,000 and 500 steps, both copied; and 40 that only app 5 saw.
INSERT INTO steps_record_table (device_info_id, app_info_id, recording_method, start_time, start_zone_offset, end_time, count) VALUES
 (1, 2, 2, 1719835200000, -14400, 1719838800000, 1000), (1, 5, 0, 1719835200000, 0, 1719838800000, 1000),
 (1, 5, 0, 1719842400000, 0, 1719844200000, 500), (1, 2, 2, 1719842400000, -14400, 1719844200000, 500),
 (1, 5, 0, 1719860400000, 0, 1719860460000, 40),
 (1, 2, 2, 1719860400000, -14400, 1719856800000, 3), (1, 2, 2, -5, -14400, 5, 3), (1, 2, 2, 1719864000000, -14400, 1719867600000, 'many');
-- During the run of app 2, from 12:00 to 12:30 there: 5,000 m, 300 kcal, 40 m up.
INSERT INTO distance_record_table (device_info_id, app_info_id, recording_method, start_time, start_zone_offset, end_time, distance) VALUES
 (1, 2, 2, 1719849600000, -14400, 1719850500000, 2500.5), (1, 2, 2, 1719850500000, -14400, 1719851400000, 2499.5), (1, 2, 2, 1719854000000, -14400, 1719854600000, 100);
INSERT INTO active_calories_burned_record_table (device_info_id, app_info_id, recording_method, start_time, start_zone_offset, end_time, energy) VALUES
 (1, 2, 2, 1719849600000, -14400, 1719851400000, 300000);
INSERT INTO elevation_gained_record_table (device_info_id, app_info_id, recording_method, start_time, start_zone_offset, end_time, elevation) VALUES
 (1, 2, 2, 1719849600000, -14400, 1719851400000, 40), (1, 2, 2, 1719860000000, -14400, 1719860100000, 9);
INSERT INTO total_calories_burned_record_table (app_info_id, start_time, end_time, energy) VALUES (2, 1719806400000, 1719892800000, 1751000);
INSERT INTO floors_climbed_record_table (app_info_id, recording_method, start_time, start_zone_offset, end_time, floors) VALUES (2, 2, 1719835200000, -14400, 1719838800000, 3);
INSERT INTO wheelchair_pushes_record_table (app_info_id, recording_method, start_time, start_zone_offset, end_time, count) VALUES (7, 3, 1719835200000, -14400, 1719838800000, 12);
INSERT INTO hydration_record_table (app_info_id, recording_method, start_time, start_zone_offset, end_time, volume) VALUES (7, 3, 1719835200000, -14400, 1719835200000, 0.25);
INSERT INTO nutrition_record_table (app_info_id, recording_method, start_time, start_zone_offset, end_time, caffeine, total_carbohydrate, meal_name) VALUES
 (7, 3, 1719835200000, -14400, 1719836100000, 0.08, 0, 'coffee'), (7, 3, 1719846000000, -14400, 1719847800000, NULL, 62.5, 'lunch');
INSERT INTO mindfulness_session_record_table (app_info_id, recording_method, start_time, start_zone_offset, end_time) VALUES (7, 1, 1719878400000, -14400, 1719879000000);

INSERT INTO heart_rate_record_table (row_id, device_info_id, app_info_id, recording_method, start_time, start_zone_offset, end_time) VALUES
 (11, 2, 2, 2, 1719849600000, -14400, 1719851400000), (12, 2, 2, 2, 1719870000000, -14400, 1719870060000);
INSERT INTO heart_rate_record_series_table VALUES (12, 61, 1719870000000), (11, 120, 1719849600000), (11, 150, 1719850200000), (11, 165, 1719850800000), (12, 63, 1719870060000), (99, 70, 1719870060000);
INSERT INTO skin_temperature_record_table (row_id, device_info_id, app_info_id, recording_method, start_time, start_zone_offset, end_time, measurement_location) VALUES (1, 2, 2, 2, 1719813600000, -14400, 1719835200000, 3);
INSERT INTO skin_temperature_delta_table VALUES (1, -0.2, 1719813600000), (1, 0.1, 1719820800000);

INSERT INTO resting_heart_rate_record_table (device_info_id, app_info_id, recording_method, time, zone_offset, beats_per_minute) VALUES (2, 2, 2, 1719833400000, -14400, 58);
INSERT INTO heart_rate_variability_rmssd_record_table (device_info_id, app_info_id, recording_method, time, zone_offset, heart_rate_variability_millis) VALUES (2, 2, 2, 1719820800000, -14400, 42.5);
INSERT INTO oxygen_saturation_record_table (device_info_id, app_info_id, recording_method, time, zone_offset, percentage) VALUES (2, 2, 2, 1719820800000, -14400, 97), (2, 2, 2, 1719824400000, -14400, 9.7);
INSERT INTO respiratory_rate_record_table (device_info_id, app_info_id, recording_method, time, zone_offset, rate) VALUES (2, 2, 2, 1719820800000, -14400, 14.5);
INSERT INTO body_temperature_record_table (app_info_id, recording_method, time, zone_offset, temperature) VALUES (7, 3, 1719835200000, -14400, 36.8);
INSERT INTO basal_body_temperature_record_table (app_info_id, recording_method, time, zone_offset, temperature) VALUES (7, 3, 1719835200000, -14400, 36.4);
INSERT INTO blood_glucose_record_table (app_info_id, recording_method, time, zone_offset, specimen_source, level) VALUES (7, 2, 1719835200000, -14400, '1', 5.4), (7, 0, 1719838800000, -14400, '2', 5.9), (7, 3, 1719842400000, -14400, '2', 6.1);
INSERT INTO blood_pressure_record_table (app_info_id, recording_method, time, zone_offset, measurement_location, systolic, diastolic) VALUES (7, 3, 1719835200000, -14400, '1', 121, 79), (7, 3, 1719838800000, -14400, '1', 121, NULL);
INSERT INTO vo2_max_record_table (device_info_id, app_info_id, recording_method, time, zone_offset, vo2_milliliters_per_minute_kilogram) VALUES (2, 2, 2, 1719851400000, -14400, 44.1);
-- The scale, at 23:30 there: by its own offset of 0 that would be the day after.
INSERT INTO weight_record_table (app_info_id, recording_method, time, zone_offset, weight) VALUES (3, 2, 1719891000000, 0, 71250);
INSERT INTO body_fat_record_table (app_info_id, recording_method, time, zone_offset, percentage) VALUES (3, 2, 1719891000000, 0, 18.4);
INSERT INTO lean_body_mass_record_table (app_info_id, recording_method, time, zone_offset, mass) VALUES (3, 2, 1719891000000, 0, 58100);
INSERT INTO height_record_table (app_info_id, recording_method, time, zone_offset, height) VALUES (7, 3, 1719806400000, -14400, 1.70), (7, 3, 1719835200000, -14400, 1.76);
INSERT INTO basal_metabolic_rate_record_table (app_info_id, recording_method, time, zone_offset, basal_metabolic_rate) VALUES (3, 2, 1719891000000, 0, 84.6);

-- A night with stages from 23:00 to 07:00 there, and the nap of an app that
-- knows no stages and marks all of it with the code 0.
INSERT INTO sleep_session_record_table (row_id, device_info_id, app_info_id, recording_method, start_time, start_zone_offset, end_time, end_zone_offset, local_date) VALUES
 (1, 2, 2, 2, 1719802800000, -14400, 1719831600000, -14400, 19904), (2, NULL, 7, 3, 1719853200000, -14400, 1719855000000, -14400, 19905), (3, NULL, 7, 3, 1719853200000, -14400, 1719853200000, -14400, 19905);
INSERT INTO sleep_stages_table VALUES
 (1, 1719803400000, 1719810600000, 4), (1, 1719810600000, 1719817800000, 5), (1, 1719817800000, 1719819000000, 1), (1, 1719819000000, 1719826200000, 6),
 (1, 1719826200000, 1719831600000, 2), (2, 1719853200000, 1719855000000, 0), (77, 1719853200000, 1719855000000, 4), (1, 1719831600000, 1719831600000, 4), (1, 1719803400000, 1719810600000, 12);

-- A run of app 2, copied by app 5, and a type of exercise from the future.
INSERT INTO exercise_session_record_table (row_id, uuid, device_info_id, app_info_id, recording_method, start_time, start_zone_offset, end_time, exercise_type, title, has_route) VALUES
 (1, X'00112233445566778899aabbccddeeff', 2, 2, 2, 1719849600000, -14400, 1719851400000, 33, 'Lunch run', 1),
 (2, X'ff112233445566778899aabbccddee00', NULL, 5, 0, 1719849600000, 0, 1719851400000, 33, 'Lunch run', 0),
 (3, X'aa112233445566778899aabbccddeebb', 2, 2, 2, 1719871200000, -14400, 1719874800000, 4711, NULL, 0);
INSERT INTO exercise_route_table VALUES
 (1, 1719850500000, 13.402, 52.501, 5, 5, 36.5), (1, 1719849600000, 13.400, 52.500, 5, 5, 34.0), (1, 1719851400000, 13.404, 52.502, 5, 5, 4.9406564584124654e-324), (1, 1719851400000, 1340, 52.502, 5, 5, 0), (9, 1719851400000, 13.4, 52.5, 5, 5, 0);
