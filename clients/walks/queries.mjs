// Queries over wearable data, with every kind of expression.
import assert from 'node:assert/strict'
import { api } from '../events.mjs'
import { push, watchOf } from '../summaries.mjs'
import { selections, tables } from '../queries.mjs'
import { refused } from '../steps.mjs'
import { camel } from '../vitals.mjs'

const provider = 'apple_health_kit'
const timeframe = { type: 'relative', anchor: '2026-12-31', past: { unit: 'month', value: 12 } }

export default async function queries(library) {
  const { client, name } = library
  const { userId } = await client.user.create({ clientUserId: `queries-${name}-${Date.now()}` })
  await live(userId)
  await columns(library, userId)
  await functions(library, userId)
  await groups(library, userId)
  await subqueries(library, userId)
  await aligned(library, userId)
  await choice(library, userId)
  await refusals(library, userId)
}

// ask runs queries and returns their tables.
const ask = async ({ client }, userId, queries, more) => {
  const { results } = await client.aggregate.queryOne({ userId, timeframe, queries, ...more })
  assert.equal(results.length, queries.length)
  return results.map(({ table }) => table)
}

// live pushes the data of the queries.
async function live(userId) {
  const watch = await watchOf(userId, provider)
  const night = (day, more) => ({ bedtime_start: `2026-03-0${day}T21:00:00Z`, bedtime_stop: `2026-03-0${day + 1}T05:00:00Z`, latency: 600, total: 25_200, efficiency: 90, ...watch, ...more })
  await push(userId, 'sleep', provider, [night(1), night(2, { efficiency: 80 }), night(3, { total: 18_000 })])
  const { sleep: [first] } = await api('GET', `/v2/summary/sleep/${userId}?start_date=2026-03-02`)
  const stages = { stage_start_offset_second: [0, 600, 1200, 1800], stage_end_offset_second: [600, 1200, 1800, 28_800], stage_type: [4, 2, 4, 2] }
  await push(userId, 'sleep_cycle', provider, [{ sleep_id: first.id, session_start: first.bedtime_start, session_end: first.bedtime_stop, ...stages, ...watch }])
  await push(userId, 'activity', provider, [{ calendar_date: '2026-03-01', steps: 9000, low: 2, heart_rate: { avg_bpm: 70 }, ...watch }])
  await push(userId, 'workouts', provider, [{ time_start: '2026-03-01T07:00:00Z', time_end: '2026-03-01T08:00:00Z', distance: 5000, title: 'Lauf', sport: { id: 37, name: 'Running', slug: 'running' }, ...watch }])
  await push(userId, 'body', provider, [{ calendar_date: '2026-03-01', weight: 70.5, ...watch }])
  await push(userId, 'meal', provider, [{ timestamp: '2026-03-01T12:00:00Z', name: 'Suppe', energy: { unit: 'kcal', value: 300 }, ...watch }])
  await push(userId, 'profile', provider, [{ height: 172, ...watch }])
  await push(userId, 'menstrual_cycle', provider, [{ period_start: '2026-03-01', ...lists, ...watch }])
  const at = (day, more) => ({ timestamp: `2026-03-0${day}T10:00:00Z`, ...more })
  const until = (day, more) => at(day, { end: `2026-03-0${day}T10:05:00Z`, ...more })
  const series = {
    heartrate: [1, 2, 5].map((day) => at(day, { value: 60 + day })), steps: [until(1, { value: 100 }), until(2, { value: 50 })],
    blood_pressure: [at(1, { systolic: 121, diastolic: 79 })], body_temperature: [until(1, { value: 37, sensor_location: 'ear' })],
    insulin_injection: [until(1, { value: 4, type: 'rapid_acting', delivery_mode: 'bolus', delivery_form: 'standard', bolus_purpose: 'meal' })],
    workout_duration: [until(1, { value: 5, intensity: 'low' })],
  }
  await api('POST', `/v2/timeseries/${userId}`, { stage: 'daily', provider, source: { type: 'watch', app_id: 'com.example.watch' }, series })
  await api('POST', `/v2/timeseries/${userId}/heartrate`, { stage: 'daily', provider: 'health_connect', data: [at(1, { value: 99, source_type: 'watch' })] })
  await api('POST', `/v2/timeseries/${userId}/note`, { stage: 'daily', provider, data: [at(1, { value: 'Suppe', tags: ['food', 'exercise'] })] })
}

const lists = {
  menstrual_flow: [{ date: '2026-03-01', flow: 'heavy' }, { date: '2026-03-02', flow: 'light' }], cervical_mucus: [{ date: '2026-03-09', quality: 'dry' }],
  intermenstrual_bleeding: [{ date: '2026-03-12' }], contraceptive: [{ date: '2026-03-01', type: 'iud' }],
  detected_deviations: [{ date: '2026-03-01', deviation: 'irregular_menstrual_cycles' }], ovulation_test: [{ date: '2026-03-13', test_result: 'positive' }],
  home_pregnancy_test: [{ date: '2026-03-20', test_result: 'negative' }], home_progesterone_test: [{ date: '2026-03-20', test_result: 'negative' }],
  sexual_activity: [{ date: '2026-03-14', protection_used: true }], basal_body_temperature: [{ date: '2026-03-14', value: 36.5 }, { date: '2026-03-15', value: 36.9 }],
}

// columns tests all columns of every table that the libraries know.
async function columns(library, userId) {
  for (const table of tables) {
    for (const select of selections(library.name, table)) {
      const [answer] = await ask(library, userId, [{ select: [...select, { index: table.index }] }])
      const names = select.map((column) => column[table.member])
      assert.deepEqual(Object.keys(answer).sort(), [...names, 'timestamp'].sort(), table.index)
      const rows = answer.timestamp.length
      if (table.rows) assert.equal(rows, table.rows, JSON.stringify(select[0]))
      for (const list of Object.values(answer)) assert.equal(list.length, rows)
      for (const [column, value] of Object.entries(table.says)) assert.deepEqual(answer[column][0], value, `${table.index} ${column}`)
    }
  }
  const [macros] = await ask(library, userId, [{ select: ['sleep_score', 'chronotype', 'asleep_at', 'awake_at', 'awakenings'].map((valueMacro) => ({ valueMacro })) }])
  assert.deepEqual([macros.awakenings[0], macros.chronotype[0], typeof macros.sleep_score[0]], [1, 'lark', 'number'])
  const [sources] = await ask(library, userId, [{ select: ['source_provider', 'source_type', 'source_app_id', 'source_workout_id', 'source_sport'].map((source) => ({ source })).concat({ timeseries: 'steps', field: 'value' }) }])
  assert.deepEqual(Object.values(sources).map(([value]) => value), [provider, 'watch', 'com.example.watch', null, null, 100])
}

async function functions(library, userId) {
  const value = { timeseries: 'steps', field: 'value' }
  const select = ['mean', 'min', 'max', 'sum', 'count', 'median', 'stddev', 'oldest', 'newest'].map((func) => ({ func, arg: value }))
  const [of, ofRows, ofMacro, ofIndex] = await ask(library, userId, [
    { select, where: null, align: null }, { select: [{ func: 'count', arg: { sleep: 'id' } }] },
    { select: [{ func: 'mean', arg: { valueMacro: 'sleep_score', version: 'automatic' } }] }, { select: [{ func: 'max', arg: { index: 'sleep' } }] },
  ], { config: { providerPriorityOverrides: null } })
  assert.deepEqual(Object.fromEntries(Object.entries(of).map(([name, [one]]) => [name.split('.')[0], one])),
    { mean: 75, min: 50, max: 100, sum: 150, count: 2, median: 75, stddev: Math.sqrt(1250), oldest: 100, newest: 50 })
  assert.deepEqual(Object.values(ofRows), [[3]])
  assert.equal(typeof Object.values(ofMacro)[0][0], 'number')
  assert.equal(Object.values(ofIndex)[0].length, 1)
}

async function groups(library, userId) {
  const select = [{ groupKey: '*' }, { func: 'count', arg: { timeseries: 'heartrate', field: 'value' } }]
  const index = { index: 'timeseries' }
  const parts = ['minute', 'hour', 'day', 'week', 'month', 'year', 'weekday', 'week_of_year', 'day_of_year']
  const by = (groupBy) => ({ select, groupBy })
  const units = ['minute', 'hour', 'day', 'week', 'month', 'year']
  const answers = await ask(library, userId, [
    ...parts.map((datePart) => by([{ datePart, arg: index }])),
    ...units.map((unit) => by([{ dateTrunc: { unit, ...(unit === 'day' && { value: 2 }) }, arg: index }])),
  ])
  const keys = answers.map((table) => table['group_key.0'])
  assert.deepEqual(keys.slice(0, parts.length).map(([key]) => key), [0, 10, 1, 9, 3, 2026, 1, 9, 60].map((key, i) => (parts[i] === 'weekday' ? keys[6][0] : key)))
  assert.deepEqual(answers[parts.length + 4]['count.value'], [3])
  const [sources, where, keyed, oneKey] = await ask(library, userId, [
    { select, groupBy: [{ source: 'source_provider' }, { source: 'source_type' }] },
    { select: [{ timeseries: 'heartrate', field: 'value' }], where: "value > 61 AND NOT (source_provider = 'health_connect')" },
    { select: [{ groupKey: '*' }, { func: 'mean', arg: { sleep: 'efficiency' } }], groupBy: [{ valueMacro: 'chronotype' }, { sleep: 'type' }] },
    { select: [{ groupKey: 0 }, { func: 'sum', arg: { activity: 'steps' } }], groupBy: [{ dateTrunc: { unit: 'week' }, arg: { index: 'activity' } }] },
  ])
  assert.deepEqual(sources, { 'group_key.0': [provider, 'health_connect'], 'group_key.1': ['watch', 'watch'], 'count.value': [3, 1] })
  assert.deepEqual(where, { value: [62, 65] })
  // The second week has the sums of pushed steps.
  assert.deepEqual([keyed['group_key.1'], oneKey['sum.steps'][0]], [['long_sleep'], 9000])
}

// subqueries tests counts and selections in lists.
async function subqueries(library, userId) {
  const of = (list, select, where) => ({ select, from: { unnest: list }, where })
  const cycle = (menstrualCycle) => ({ menstrualCycle })
  const fields = {
    menstrual_flow: ['date', 'flow'], cervical_mucus: ['date', 'quality'], intermenstrual_bleeding: ['date'], contraceptive: ['date', 'type'],
    detected_deviations: ['date', 'deviation'], ovulation_test: ['date', 'test_result'], home_pregnancy_test: ['date', 'test_result'],
    home_progesterone_test: ['date', 'test_result'], sexual_activity: ['date', 'protection_used'], basal_body_temperature: ['date', 'value'],
  }
  const every = Object.entries(fields).flatMap(([list, names]) => names.map((field) => of(cycle(list), { func: 'count', arg: { fieldFor: 'menstrual_cycle', [camel(list)]: field } })))
  if (!library.types.ScalarOutputSubqueryExpr) return // the older library cannot ask so
  const [cycles, counted, notes, grouped] = await ask(library, userId, [
    { select: every },
    { select: [of(cycle('menstrual_flow'), { func: 'count', arg: null }, "flow = 'heavy'"), of(cycle('basal_body_temperature'), { func: 'max', arg: { basalBodyTemperature: 'value' } })] },
    { select: [of({ timeseries: 'note', field: 'tags' }, { func: 'count', arg: { element: true } }, "element = 'food'")] },
    { select: [{ groupKey: '*' }, { func: 'sum', arg: of(cycle('menstrual_flow'), { func: 'count', arg: null }) }], groupBy: [{ dateTrunc: { unit: 'month' }, arg: { index: 'menstrual_cycle' } }] },
  ])
  assert.deepEqual([cycles['count.menstrual_flow.flow'], cycles['count.basal_body_temperature.value'], cycles['count.ovulation_test.date']], [[2], [2], [1]])
  assert.deepEqual([counted['count.menstrual_flow'], counted['max.basal_body_temperature.value']], [[1], [36.9]])
  assert.deepEqual(Object.values(notes), [[1]])
  assert.deepEqual(Object.values(grouped).at(-1), [2])
}

async function aligned(library, userId) {
  const line = (carry) => ({
    select: [{ groupKey: '*' }, { func: 'max', arg: { timeseries: 'heartrate', field: 'value' } }],
    groupBy: [{ dateTrunc: { unit: 'day' }, arg: { index: 'timeseries' } }], where: `source_provider = '${provider}'`, align: { carry },
  })
  if (!library.types.AlignExpr) return // the older library cannot ask so
  const day = { unit: 'day' }
  const answers = await ask(library, userId, [
    line({ mode: 'carry_forward', maxAge: day }), line({ mode: 'carry_forward' }), line({ mode: 'carry_backward', maxAge: day }), line({ mode: 'carry_nearest', span: day }),
  ])
  assert.deepEqual(answers.map((table) => table['max.value'].filter((value) => value !== null)),
    [[61, 62, 62, 65, 65], [61, 62, 62, 62, 65], [61, 61, 62, 65, 65], [61, 61, 62, 62, 65, 65, 65]])
}

// choice tests the selection of the better source of a day.
async function choice(library, userId) {
  const best = { select: [{ func: 'max', arg: { timeseries: 'heartrate', field: 'value' } }, { groupKey: 0 }], groupBy: [{ dateTrunc: { unit: 'year' }, arg: { index: 'timeseries' } }] }
  for (const [slug, most] of [['health_connect', 99], [provider, 65]]) {
    assert.deepEqual((await ask(library, userId, [best], { config: { providerPriorityOverrides: [slug] } }))[0]['max.value'], [most])
  }
}

async function refusals({ client }, userId) {
  const wrong = (query, more) => client.aggregate.queryOne({ userId, timeframe, queries: [query], ...more })
  await refused(wrong({ select: [{ sleep: 'id' }, { activity: 'steps' }] }), 'UnprocessableEntityError', /table/)
  await refused(wrong({ select: [{ valueMacro: 'happiness' }] }), 'UnprocessableEntityError', /value_macro/)
  await refused(wrong({ select: [{ sleep: 'id' }], where: 'id >' }), 'UnprocessableEntityError', /where/)
  await refused(wrong({ select: [{ sleep: 'id' }] }, { userId: 'nobody' }), 'UnprocessableEntityError', /user_id/)
  await assert.rejects(wrong({ select: [{ sleep: 'id' }] }, { userId: crypto.randomUUID() }), ({ statusCode }) => statusCode === 404)
}
