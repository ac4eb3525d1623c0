// The tables of queries, with the columns that the libraries know.
import { Junction } from '@junction-api/sdk'
import { Vital } from '@tryvital/vital-node'

const words = { junction: Junction, vital: Vital }

// readiness lists columns without a published formula. Hale refuses them.
const readiness = ['recovery_score', 'recovery_zone', 'stress_score', 'strain_score', 'strain_zone']

// tables has one row for each table. A row has the member that names a column, the enums
// of the columns and of the time series, and the index. It also has the number of rows
// that the walk stored, and some values of the first one.
export const tables = [
  ['sleep', 'SleepColumnExprSleep', null, 'sleep', 3, { efficiency: 90, type: 'long_sleep', duration_second: 28_800, source_provider: 'apple_health_kit' }],
  ['activity', 'ActivityColumnExprActivity', null, 'activity', 1, { steps: 9000, intensity_low_second: 120, heart_rate_mean: 70 }],
  ['workout', 'WorkoutColumnExprWorkout', null, 'workout', 1, { distance_meter: 5000, title: 'Lauf', sport_slug: 'running' }],
  ['body', 'BodyColumnExprBody', null, 'body', 1, { weight_kilogram: 70.5 }],
  ['meal', 'MealColumnExprMeal', null, 'meal', 1, { calories: 300, name: 'Suppe' }],
  ['profile', 'ProfileColumnExprProfile', null, 'profile', 1, { height_centimeter: 172 }],
  ['menstrualCycle', 'MenstrualCycleColumnExprMenstrualCycle', null, 'menstrual_cycle', 1, { period_start: '2026-03-01' }],
  ['derivedReadiness', 'DerivedReadinessColumnExprDerivedReadiness', null, 'derived_readiness', 3, {}],
  ['field', 'DiscreteTimeseriesExprField', 'DiscreteTimeseriesExprTimeseries', 'timeseries', undefined, {}],
  ['field', 'IntervalTimeseriesExprField', 'IntervalTimeseriesExprTimeseries', 'timeseries', undefined, {}],
  ['field', 'TemperatureTimeseriesExprField', 'TemperatureTimeseriesExprTimeseries', 'timeseries', undefined, {}],
  ['field', 'BloodPressureTimeseriesExprField', 'blood_pressure', 'timeseries', 1, { systolic: 121, diastolic: 79 }],
  ['field', 'InsulinInjectionTimeseriesExprField', 'insulin_injection', 'timeseries', 1, { value: 4, delivery_mode: 'bolus', delivery_form: 'standard', bolus_purpose: 'meal' }],
  ['field', 'WorkoutDurationTimeseriesExprField', 'workout_duration', 'timeseries', 1, { value: 5, intensity: 'low' }],
  ['field', 'NoteTimeseriesExprField', 'note', 'timeseries', 1, {}],
].map(([member, columns, series, index, rows, says]) => ({ member, columns, series, index, rows, says }))

// lists has the columns that only subqueries read.
const lists = [
  'menstrual_flow', 'cervical_mucus', 'intermenstrual_bleeding', 'contraceptive', 'detected_deviations', 'ovulation_test', 'home_pregnancy_test',
  'home_progesterone_test', 'sexual_activity', 'basal_body_temperature', 'tags',
]

// selections returns the columns of a table that a library knows: one list, or one for
// each of its time series.
export function selections(name, { member, columns, series }) {
  const all = Object.values(words[name][columns] ?? {}).filter((column) => !lists.includes(column) && !readiness.includes(column))
  if (all.length === 0) return []
  const among = words[name][series] ? Object.values(words[name][series]) : [series]
  return among.map((timeseries) => all.map((column) => ({ ...(timeseries && { timeseries }), [member]: column })))
}
