// All time series for which the libraries have a method, with a sample of each.

const moment = 'moment' // a sample at one instant
const interval = 'interval' // a sample from start to end

// vitals has one row for each time series. A row has the method for groups without its
// ending, the resource in paths, and whether samples are moments or intervals. It also
// has the unit of reads, the pushed fields, and the fields that reads return differently.
export const vitals = [
  ['workoutSwimmingStroke', 'workout_swimming_stroke', interval, 'count', { value: 24 }],
  ['workoutDistance', 'workout_distance', interval, 'm', { value: 1, unit: 'km' }, { value: 1000 }],
  ['heartRateRecoveryOneMinute', 'heart_rate_recovery_one_minute', interval, 'count', { value: 31 }],
  ['waistCircumference', 'waist_circumference', interval, 'cm', { value: 0.81, unit: 'm' }, { value: 81 }],
  ['leanBodyMass', 'lean_body_mass', interval, 'kg', { value: 52.25 }],
  ['bodyMassIndex', 'body_mass_index', interval, 'index', { value: 22.5 }],
  ['basalBodyTemperature', 'basal_body_temperature', interval, '°C', { value: 36.25 }],
  ['handwashing', 'handwashing', interval, 'count', { value: 1 }],
  ['daylightExposure', 'daylight_exposure', interval, 'min', { value: 0.5, unit: 'h' }, { value: 30 }],
  ['uvExposure', 'uv_exposure', interval, 'index', { value: 7.5 }],
  ['fall', 'fall', interval, 'count', { value: 1 }],
  ['inhalerUsage', 'inhaler_usage', interval, 'count', { value: 2 }],
  ['peakExpiratoryFlowRate', 'peak_expiratory_flow_rate', interval, 'L/min', { value: 412.5 }],
  ['forcedVitalCapacity', 'forced_vital_capacity', interval, 'L', { value: 4250, unit: 'mL' }, { value: 4.25 }],
  ['forcedExpiratoryVolume1', 'forced_expiratory_volume_1', interval, 'L', { value: 3.5 }],
  ['wheelchairPush', 'wheelchair_push', interval, 'count', { value: 55 }],
  ['sleepBreathingDisturbance', 'sleep_breathing_disturbance', interval, 'count', { value: 12, type: 'not_elevated' }],
  ['sleepApneaAlert', 'sleep_apnea_alert', interval, 'count', { value: 1 }],
  ['standDuration', 'stand_duration', interval, 'min', { value: 4 }],
  ['standHour', 'stand_hour', interval, 'count', { value: 1, type: 'stood' }],
  ['heartRateAlert', 'heart_rate_alert', interval, 'count', { value: 1, type: 'irregular_rhythm' }],
  ['afibBurden', 'afib_burden', interval, '%', { value: 2.5 }],
  ['workoutDuration', 'workout_duration', interval, 'min', { value: 5, intensity: 'high' }],
  ['vo2Max', 'vo2_max', interval, 'mL/kg/min', { value: 44.5 }],
  ['stressLevel', 'stress_level', moment, '%', { value: 35.5 }],
  ['mindfulnessMinutes', 'mindfulness_minutes', interval, 'min', { value: 300, unit: 's' }, { value: 5 }],
  ['caffeine', 'caffeine', interval, 'g', { value: 80, unit: 'mg' }, { value: 0.08 }],
  ['water', 'water', moment, 'ml', { value: 0.25, unit: 'L' }, { value: 250 }],
  ['steps', 'steps', interval, 'count', { value: 210 }],
  ['floorsClimbed', 'floors_climbed', moment, 'count', { value: 3 }],
  ['distance', 'distance', interval, 'm', { value: 120.5 }],
  ['caloriesBasal', 'calories_basal', moment, 'kcal', { value: 6.25 }],
  ['caloriesActive', 'calories_active', interval, 'kcal', { value: 41.84, unit: 'kJ' }, { value: 10 }],
  ['respiratoryRate', 'respiratory_rate', moment, 'bpm', { value: 14.5 }],
  ['note', 'note', interval, 'text', { value: 'Apfel, süß', tags: ['food', 'unspecified'] }],
  ['insulinInjection', 'insulin_injection', interval, 'unit', {
    value: 4.5, type: 'rapid_acting', delivery_mode: 'bolus', delivery_form: 'extended', bolus_purpose: 'correction',
  }],
  ['ige', 'ige', moment, 'FSU', { value: 12, type: 'baha_grass' }],
  ['igg', 'igg', moment, 'FSU', { value: 8, type: 'dairy' }],
  ['hrv', 'hrv', moment, 'rmssd', { value: 48.5 }],
  ['heartrate', 'heartrate', moment, 'bpm', { value: 61 }],
  ['glucose', 'glucose', moment, 'mmol/L', { value: 90.091, unit: 'mg/dL', type: 'manual_scan' }, { value: 5 }],
  ['cholesterol', 'cholesterol', moment, 'mmol/L', { value: 2.5, type: 'cholesterol/ldl' }],
  ['carbohydrates', 'carbohydrates', interval, 'g', { value: 42 }],
  ['bodyTemperatureDelta', 'body_temperature_delta', interval, '°C', { value: -0.25, sensor_location: 'finger' }],
  ['bodyTemperature', 'body_temperature', interval, '°C', { value: 98.6, unit: '°F', sensor_location: 'temporal_artery' }, { value: 37 }],
  ['bodyWeight', 'body_weight', moment, 'kg', { value: 70500, unit: 'g' }, { value: 70.5 }],
  ['bodyFat', 'body_fat', moment, '%', { value: 23.5 }],
  ['bloodOxygen', 'blood_oxygen', moment, '%', { value: 97 }],
  ['electrocardiogramVoltage', 'electrocardiogram_voltage', moment, 'mV', { value: 0.125, type: 'lead_1' }],
  ['bloodPressure', 'blood_pressure', moment, 'mmHg', { systolic: 121, diastolic: 79 }],
].map(([method, resource, lies, unit, pushed, otherwise]) => ({
  method, resource, unit, pushed, isInterval: lies === interval, read: { ...pushed, unit, ...otherwise },
}))

// eventName returns the name of a series in types of events.
export const eventName = (resource) => ({ body_weight: 'weight', body_fat: 'fat' })[resource] ?? resource

// camel converts a name of the API to a name of the libraries.
export const camel = (name) => name.replace(/_(\w)/g, (_, letter) => letter.toUpperCase())

// snake converts a name of the libraries to a name of the API.
const snake = (name) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

// memberOf returns a member of a decoded object. Members that an older library does not
// know have the names of the API.
export const memberOf = (decoded, name) => decoded[name] ?? decoded[snake(name)] ?? null

// inCamel returns an object with the names of the libraries, at all levels.
export function inCamel(value) {
  if (Array.isArray(value)) return value.map(inCamel)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [camel(name), inCamel(part)]))
}
