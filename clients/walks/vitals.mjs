// All time series: pushes, grouped and plain reads, and events.
import assert from 'node:assert/strict'
import { api, decodeEvent, eventsOf, withIsFinal } from '../events.mjs'
import { refused } from '../steps.mjs'
import { camel, eventName, memberOf, vitals } from '../vitals.mjs'

const day = { startDate: '2026-03-01', endDate: '2026-03-01' }
const first = new Date('2026-03-01T10:00:00Z')
const minute = 60_000
const hour = 3600_000

export default async function series(library) {
  const { client, name } = library
  const { userId } = await client.user.create({ clientUserId: `vitals-${name}-${Date.now()}` })
  const watch = await device(userId)
  await push(userId, watch, 'daily')
  for (const one of vitals) {
    await groups(library, userId, watch, one)
    if (client.vitals[one.method]) await plain(library, userId, one)
  }
  await cholesterol(library, userId)
  await revise(userId, watch)
  await checkEvents(library, userId, watch)
  await refusals(library, userId)
}

async function device(userId) {
  const made = await api('POST', `/v2/user/${userId}/device`, { provider: 'apple_health_kit', source_type: 'watch', device_model: 'One' })
  return { type: 'watch', app_id: 'com.example.watch', device_id: made.id }
}

// sample returns a sample to push, some hours after the first.
function sample({ pushed, isInterval }, hours, offset) {
  const timestamp = new Date(+first + hours * hour).toISOString()
  const end = new Date(+first + hours * hour + 5 * minute).toISOString()
  return { timestamp, ...(isInterval && { end }), timezone_offset: offset, ...pushed }
}

// push sends two samples of every series from the watch of one provider, and one from an
// app of another provider. Notes have a path of their own.
async function push(userId, source, stage) {
  const batches = [
    { provider: 'apple_health_kit', source, samples: (one) => [sample(one, 0, 3600), sample(one, 1, -16_200)] },
    { provider: 'health_connect', source: { type: 'phone' }, samples: (one) => [sample(one, 2)] },
  ]
  for (const { provider, source, samples } of batches) {
    const head = { stage, provider, is_final_chunk: stage === 'historical', start_date: '2026-03-01', end_date: '2026-03-02' }
    const series = Object.fromEntries(vitals.filter(isNumber).map((one) => [one.resource, samples(one)]))
    const { rejected } = await api('POST', `/v2/timeseries/${userId}`, { ...head, source, series })
    assert.deepEqual(rejected, [])
    const notes = samples(vitals.find(({ resource }) => resource === 'note')).map((note) => ({ ...note, source }))
    await api('POST', `/v2/timeseries/${userId}/note`, { ...head, data: notes })
  }
}

const isNumber = ({ resource }) => resource !== 'note'

// read returns a sample in the form of the libraries.
function read({ read, isInterval }, hours, timezoneOffset) {
  const timestamp = new Date(+first + hours * hour)
  const end = new Date(+timestamp + 5 * minute)
  const words = Object.fromEntries(Object.entries(read).map(([name, value]) => [camel(name), value]))
  return {
    timestamp, ...(isInterval && { start: timestamp, end }), timezoneOffset, type: null, ...words,
  }
}

// same asserts that samples have the expected values.
function same(samples, expected) {
  assert.equal(samples.length, expected.length)
  for (const [i, want] of expected.entries()) {
    const known = Object.fromEntries(Object.keys(want).map((name) => [name, memberOf(samples[i], name)]))
    assert.deepEqual(known, want)
  }
}

async function groups({ client }, userId, watch, one) {
  const ask = (more) => client.vitals[`${one.method}Grouped`]({ userId, ...day, ...more })
  const all = await ask({ provider: null, cursor: null, nextCursor: undefined })
  assert.deepEqual(Object.keys(all.groups).sort(), ['apple_health_kit', 'health_connect'], one.resource)
  assert.deepEqual([all.next ?? null, all.nextCursor ?? null], [null, null])
  const [{ source, data }, ...others] = all.groups.apple_health_kit
  assert.deepEqual(others, [])
  assert.deepEqual([source.provider, source.type, source.appId, source.deviceId], ['apple_health_kit', 'watch', watch.app_id, watch.device_id])
  same(data, [read(one, 0, 3600), read(one, 1, -16_200)])
  const [phone] = all.groups.health_connect
  assert.deepEqual([phone.source.type, phone.source.appId ?? null, phone.source.deviceId ?? null], ['phone', null, null])
  same(phone.data, [read(one, 2, null)])
  const narrow = await ask({ provider: 'apple_health_kit', startDate: first.toISOString(), endDate: '2026-03-01T11:59:59+01:00' })
  assert.deepEqual([Object.keys(narrow.groups), narrow.groups.apple_health_kit[0].data.length], [['apple_health_kit'], 1], one.resource)
  const open = await ask({ endDate: null, startDate: '2026-03-02' })
  assert.deepEqual(open.groups, {})
}

async function plain({ client }, userId, one) {
  const ask = (more) => client.vitals[one.method]({ userId, ...day, ...more })
  same(await ask(), [read(one, 0, 3600), read(one, 1, -16_200), read(one, 2, null)])
  same(await ask({ provider: 'health_connect', endDate: undefined }), [read(one, 2, null)])
  same(await ask({ startDate: '2026-03-01T11:30:00.000Z', provider: null }), [read(one, 2, null)])
}

// cholesterol reads each type of cholesterol.
async function cholesterol({ client }, userId) {
  const kinds = ['hdl', 'total', 'triglycerides']
  const data = kinds.map((kind, i) => ({ timestamp: `2026-03-05T0${i}:00:00Z`, value: i + 1, type: `cholesterol/${kind}` }))
  await api('POST', `/v2/timeseries/${userId}/cholesterol`, { stage: 'daily', provider: 'manual', data })
  for (const [i, kind] of kinds.entries()) {
    const method = `cholesterol${kind[0].toUpperCase()}${kind.slice(1)}`
    const [only, ...others] = await client.vitals[method]({ userId, startDate: '2026-03-05', endDate: '2026-03-05', provider: 'manual' })
    assert.deepEqual([only.value, only.type, others], [i + 1, `cholesterol/${kind}`, []])
  }
  assert.equal((await client.vitals.cholesterolLdl({ userId, ...day })).length, 3)
}

// revise sends other values at the same times, and ends the history.
async function revise(userId, source) {
  const series = Object.fromEntries(vitals.filter(isNumber).map((one) => [one.resource, [other(sample(one, 0, 3600))]]))
  await api('POST', `/v2/timeseries/${userId}`, { stage: 'daily', provider: 'apple_health_kit', source, series })
  await push(userId, source, 'historical')
}

// other returns a sample with another value. The value of an alert is always 1.
const other = ({ value, systolic, ...rest }) => ({ ...rest, ...(systolic && { systolic: systolic - 1 }), ...(value !== undefined && { value: value * 0.9 }) })

// checkEvents compares the events of every series with the samples.
async function checkEvents({ types }, userId, watch) {
  const all = await eventsOf(userId, ...vitals.flatMap(({ resource }) => ['daily', 'historical'].map((stage) => `${stage}.data.${eventName(resource)}.created`)),
    ...vitals.map(({ resource }) => `daily.data.${eventName(resource)}.updated`))
  for (const one of vitals) {
    const of = (stage, verb) => all.filter(({ event_type: type }) => type === `${stage}.data.${eventName(one.resource)}.${verb}`)
    const created = of('daily', 'created')
    const events = created.map((event) => decodeEvent(types, event))
    assert.ok(events.every(Boolean), `no decoder of ${created[0].event_type}`)
    const [ofWatch, ofPhone] = ['apple_health_kit', 'health_connect'].map((slug) => events.filter(({ data }) => data.source.provider === slug))
    for (const event of ofWatch) assert.deepEqual([event.userId, event.data.source.deviceId], [userId, watch.device_id])
    same(ofWatch.flatMap(({ data }) => data.data), [read(one, 0, 3600), read(one, 1, -16_200)])
    same(ofPhone.flatMap(({ data }) => data.data), [read(one, 2, null)])
    if (!['note', 'heart_rate_alert'].includes(one.resource)) assert.equal(decodeEvent(types, of('daily', 'updated')[0]).data.data.length, 1, one.resource)
    for (const past of of('historical', 'created')) history(types, past, userId)
    assert.equal(of('historical', 'created').length, 2, one.resource)
  }
}

// history reads the event of a complete history.
function history(types, event, userId) {
  const { data, eventType } = decodeEvent(types, withIsFinal(event))
  assert.equal(eventType, event.event_type)
  assert.deepEqual([data.userId, data.startDate], [userId, new Date('2026-03-01')])
}

async function refusals({ client }, userId) {
  await refused(client.vitals.stepsGrouped({ userId, startDate: 'yesterday' }), 'UnprocessableEntityError', /start_date/)
  await refused(client.vitals.stepsGrouped({ userId, ...day, nextCursor: 'nonsense' }), 'UnprocessableEntityError', /next_cursor/)
  await refused(client.vitals.steps({ userId, startDate: '2026-03-02', endDate: '2026-03-01' }), 'UnprocessableEntityError', /end_date/)
  await refused(client.vitals.heartrate({ userId: 'nobody', ...day }), 'UnprocessableEntityError', /user_id/)
  await assert.rejects(client.vitals.glucoseGrouped({ userId: crypto.randomUUID(), ...day }), ({ statusCode }) => statusCode === 404)
}
