// Meals, menstrual cycles and electrocardiograms.
import assert from 'node:assert/strict'
import { ended, has, isFrom, push, summaryEvents, watchOf } from '../summaries.mjs'

const provider = 'apple_health_kit'
const range = { startDate: '2026-03-01', endDate: '2026-03-31' }

const macros = {
  carbs: 60.5, protein: 12, alcohol: 0.5, water: 200, fibre: 8.25, sugar: 14, cholesterol: 0.02,
  fats: { saturated: 2.5, monounsaturated: 3, polyunsaturated: 1.5, omega3: 0.4, omega6: 1.1, total: 7 },
}

const micros = {
  minerals: { sodium: 120, potassium: 400, calcium: 210, phosphorus: 150, magnesium: 60, iron: 2.5, zinc: 1.5, fluoride: 0.1, chloride: 180 },
  trace_elements: { chromium: 12, copper: 0.4, iodine: 30, manganese: 1.2, molybdenum: 15, selenium: 20 },
  vitamins: {
    vitamin_a: 120, vitamin_b1: 0.3, riboflavin: 0.2, niacin: 2.5, pantothenic_acid: 1, vitamin_b6: 0.3, biotin: 10, vitamin_b12: 0.8, vitamin_c: 25,
    vitamin_d: 2.5, vitamin_e: 3, vitamin_k: 12, folic_acid: 60,
  },
}

const meal = {
  timestamp: '2026-03-01T06:30:00Z', calendar_date: '2026-03-01', name: 'Müsli', energy: { unit: 'kcal', value: 410.5 }, macros, micros,
  data: { 'Haferflocken, fein': { energy: { unit: 'kcal', value: 360 }, macros, micros }, Apfel: {} },
}

const cycle = {
  period_start: '2026-03-01', period_end: '2026-03-05', cycle_end: '2026-03-28', is_predicted: true,
  menstrual_flow: ['unspecified', 'none', 'light', 'medium', 'heavy'].map((flow) => ({ date: '2026-03-01', flow })),
  cervical_mucus: ['dry', 'sticky', 'creamy', 'watery', 'egg_white'].map((quality) => ({ date: '2026-03-10', quality })),
  intermenstrual_bleeding: [{ date: '2026-03-12' }],
  contraceptive: ['unspecified', 'implant', 'injection', 'iud', 'intravaginal_ring', 'oral', 'patch'].map((type) => ({ date: '2026-03-02', type })),
  detected_deviations: ['persistent_intermenstrual_bleeding', 'prolonged_menstrual_periods', 'irregular_menstrual_cycles', 'infrequent_menstrual_cycles']
    .map((deviation) => ({ date: '2026-03-20', deviation })),
  ovulation_test: ['negative', 'positive', 'luteinizing_hormone_surge', 'estrogen_surge', 'indeterminate'].map((result) => ({ date: '2026-03-13', test_result: result })),
  home_pregnancy_test: ['negative', 'positive', 'indeterminate'].map((result) => ({ date: '2026-03-27', test_result: result })),
  home_progesterone_test: ['negative', 'positive', 'indeterminate'].map((result) => ({ date: '2026-03-21', test_result: result })),
  sexual_activity: [{ date: '2026-03-14', protection_used: true }, { date: '2026-03-15', protection_used: false }, { date: '2026-03-16', protection_used: null }],
  basal_body_temperature: [{ date: '2026-03-14', value: 36.45 }],
}

const trace = {
  session_start: '2026-03-01T09:00:00Z', session_end: '2026-03-01T09:00:30Z', voltage_sample_count: 15_360, heart_rate_mean: 64, sampling_frequency_hz: 512.5,
  classification: 'inconclusive', inconclusive_cause: 'poor_reading', algorithm_version: '2', time_zone: 'Europe/Helsinki', source_device_model: 'Watch7,1',
}

export default async function cycles(library) {
  const { client, name } = library
  const { userId } = await client.user.create({ clientUserId: `cycles-${name}-${Date.now()}` })
  const watch = await watchOf(userId, provider)
  await meals(library, userId, watch)
  await both(library, userId, watch, 'menstrual_cycle', 'menstrualCycle', cycle, { period_end: '2026-03-06' })
  await both(library, userId, watch, 'electrocardiogram', 'electrocardiogram', trace, { heart_rate_mean: 65, classification: 'sinus_rhythm' })
  await words(library, userId)
  for (const kind of ['meal', 'menstrual_cycle', 'electrocardiogram']) await ended(library.types, userId, kind, provider)
}

// meals differ by their time and name. The second push revises the first.
async function meals({ client, types }, userId, watch) {
  const revised = { unit: 'kcal', value: 395.5 }
  await push(userId, 'meal', provider, [{ ...meal, ...watch }, { timestamp: '2026-03-02T06:30:00Z', ...watch }])
  await push(userId, 'meal', provider, [{ ...meal, energy: revised, ...watch }])
  const ask = async (more) => (await client.meal.get({ userId, ...range, ...more })).meals
  const [first, second, ...others] = await ask({ provider })
  assert.deepEqual(others, [])
  const { micros: _, data: __, ...rest } = meal
  has(first, { ...rest, energy: revised })
  for (const food of [first, first.data['Haferflocken, fein']]) assert.deepEqual(food.micros, { minerals: micros.minerals, traceElements: micros.trace_elements, vitamins: micros.vitamins })
  has(first.data['Haferflocken, fein'], { energy: { unit: 'kcal', value: 360 }, macros })
  assert.deepEqual(Object.keys(first.data).sort(), ['Apfel', 'Haferflocken, fein'])
  isFrom(first, userId, provider, watch)
  for (const one of [first, second]) {
    assert.deepEqual([one.providerId, one.sourceAppId, one.sourceDeviceId], [one.id, watch.source_app_id, watch.source_device_id])
    assert.deepEqual([typeof one.priorityId, typeof one.sourceId], ['number', 'number'])
  }
  assert.deepEqual([second.name, second.energy ?? null, second.macros ?? null, second.micros ?? null, second.data], ['', null, null, null, {}])
  assert.deepEqual([await ask({ provider: 'manual' }), (await ask({ startDate: '2026-03-02', endDate: null })).length], [[], 1])
  const events = await summaryEvents(types, userId, 'meal')
  const [created, updated] = events.filter(({ data }) => data.id === first.id)
  has(created.data, rest)
  assert.equal(updated.eventType, 'daily.data.meal.updated')
  has(updated.data, { ...rest, energy: revised })
}

// both tests summaries that contain their source twice.
async function both({ client, types }, userId, watch, kind, method, full, newer) {
  await push(userId, kind, provider, [{ ...full, ...watch }])
  await push(userId, kind, provider, [{ ...full, ...newer, ...watch }])
  const ask = async (more) => (await client[method].get({ userId, ...range, ...more }))[method]
  const [only, ...others] = await ask({ provider })
  assert.deepEqual(others, [])
  has(only, { ...full, ...newer })
  isFrom(only, userId, provider, watch)
  assert.deepEqual([only.sourceProvider, only.sourceType, only.sourceAppId, only.sourceDeviceId], [provider, 'watch', watch.source_app_id, watch.source_device_id])
  assert.deepEqual([await ask({ provider: 'manual' }), await ask({ endDate: null })], [[], [only]])
  const [created, updated] = await summaryEvents(types, userId, kind)
  has(created.data, full)
  assert.deepEqual([updated.eventType, updated.data.id], [`daily.data.${kind}.updated`, only.id])
}

// words tests the remaining words of electrocardiograms, and a cycle with only a start.
async function words({ client }, userId) {
  const words = [['atrial_fibrillation', 'high_heart_rate'], ['sinus_rhythm', 'low_heart_rate'], [null, null]]
  const session = (minute) => ({ session_start: `2026-03-03T09:0${minute}:00Z`, session_end: `2026-03-03T09:0${minute}:30Z`, voltage_sample_count: 1 })
  await push(userId, 'electrocardiogram', 'health_connect', words.map(([classification, cause], i) => ({ ...session(i), classification, inconclusive_cause: cause })))
  const { electrocardiogram: all } = await client.electrocardiogram.get({ userId, startDate: '2026-03-03', endDate: '2026-03-03' })
  all.sort((a, b) => a.sessionStart - b.sessionStart)
  assert.deepEqual(all.map(({ classification, inconclusiveCause }) => [classification ?? null, inconclusiveCause ?? null]), words)
  await push(userId, 'menstrual_cycle', 'manual', [{ period_start: '2026-02-01' }])
  const [bare] = (await client.menstrualCycle.get({ userId, startDate: '2026-02-01', endDate: '2026-02-01' })).menstrualCycle
  assert.deepEqual([bare.periodEnd ?? null, bare.isPredicted, bare.menstrualFlow, bare.sourceProvider, bare.sourceType], [null, false, [], 'manual', 'unknown'])
}
