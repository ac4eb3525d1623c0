// Nights: sleeps, their stages and their streams.
import assert from 'node:assert/strict'
import { api } from '../events.mjs'
import { ended, has, isFrom, push, summaryEvents, watchOf } from '../summaries.mjs'
import { refused } from '../steps.mjs'
import { inCamel, memberOf } from '../vitals.mjs'

const provider = 'apple_health_kit'
const range = { startDate: '2026-03-01', endDate: '2026-03-03' }

const sleep = {
  bedtime_start: '2026-02-28T21:30:00Z', bedtime_stop: '2026-03-01T05:30:00Z', calendar_date: '2026-03-01', type: 'long_sleep', timezone_offset: 7200,
  total: 25_200, awake: 3600, light: 14_400, rem: 5400, deep: 5400, score: 81, recovery_readiness_score: 77, hr_lowest: 44, hr_average: 52, hr_resting: 50,
  efficiency: 87.5, latency: 600, temperature_delta: -0.25, skin_temperature: 34.5, hr_dip: 12.5, state: 'confirmed', average_hrv: 62.5, respiratory_rate: 14.25,
}

const cycle = {
  session_start: '2026-02-28T21:30:00Z', session_end: '2026-03-01T05:30:00Z', time_zone: 'Europe/Helsinki',
  stage_start_offset_second: [0, 600, 7200, 12_600, 14_000, 20_000], stage_end_offset_second: [600, 7200, 12_600, 14_000, 20_000, 28_800], stage_type: [4, 2, 1, 3, -1, 5],
}

export default async function nights(library) {
  const { client, name } = library
  const { userId } = await client.user.create({ clientUserId: `nights-${name}-${Date.now()}` })
  const watch = await watchOf(userId, provider)
  const first = await sleeps(library, userId, watch)
  await naps(library, userId)
  await cycles(library, userId, watch, first)
  await measured(library, userId, first)
  await hypnogram(library, userId)
  await raw(library, userId, first, watch)
  for (const kind of ['sleep', 'sleep_cycle']) await ended(library.types, userId, kind, provider)
}

async function sleeps({ client, types }, userId, watch) {
  await push(userId, 'sleep', provider, [{ ...sleep, ...watch }])
  await push(userId, 'sleep', provider, [{ ...sleep, score: 82, state: 'tentative', ...watch }])
  const [first, ...others] = (await client.sleep.get({ userId, ...range, provider })).sleep
  assert.deepEqual(others, [])
  has(first, { ...sleep, score: 82, state: 'tentative' }, { duration: 28_800, date: new Date('2026-03-01') })
  isFrom(first, userId, provider, watch)
  const [created, updated] = await summaryEvents(types, userId, 'sleep')
  has(created.data, sleep)
  assert.deepEqual([created.eventType, updated.eventType, updated.data.id], ['daily.data.sleep.created', 'daily.data.sleep.updated', first.id])
  return first
}

// naps tests sleeps of the other types, and one with few fields.
async function naps({ client }, userId) {
  const nap = (hour, more) => ({ bedtime_start: `2026-03-02T${hour}:00:00Z`, bedtime_stop: `2026-03-02T${hour}:40:00Z`, source_type: 'ring', ...more })
  await push(userId, 'sleep', 'health_connect', [nap(12), nap(14, { type: 'acknowledged_nap' }), nap(16, { type: 'unknown' }), nap(18, { deep: 600, rem: 600, light: 900 })])
  const { sleep: all } = await client.sleep.get({ userId, startDate: '2026-03-02T00:00:00Z', endDate: '2026-03-02', provider: 'health_connect' })
  all.sort((a, b) => a.bedtimeStart - b.bedtimeStart)
  assert.deepEqual(all.map(({ type, total, awake, source }) => [type, total, awake, source.type]), [
    ['short_sleep', 0, 0, 'ring'], ['acknowledged_nap', 0, 0, 'ring'], ['unknown', 0, 0, 'ring'], ['short_sleep', 2100, 300, 'ring']])
  assert.equal(all[3].efficiency, 87.5)
  const none = await client.sleep.getStreamBySleepId({ sleepId: all[0].id })
  assert.deepEqual([none.heartrate, none.hypnogram].map((list) => list ?? []), [[], []])
}

async function cycles({ client, types }, userId, watch, { id }) {
  await push(userId, 'sleep_cycle', provider, [{ ...cycle, sleep_id: id, ...watch }])
  await push(userId, 'sleep_cycle', provider, [{ ...cycle, sleep_id: id, stage_type: [4, 2, 1, 3, -1, 4], ...watch }])
  const ask = async (more) => (await client.sleepCycle.get({ userId, ...range, ...more })).sleepCycle
  const [only, ...others] = await ask({ provider })
  assert.deepEqual(others, [])
  has(only, { ...cycle, sleep_id: id, stage_type: [4, 2, 1, 3, -1, 4] })
  isFrom(only, userId, provider, watch)
  assert.deepEqual([only.sourceProvider, only.sourceType, only.sourceAppId, only.sourceDeviceId], [provider, 'watch', watch.source_app_id, watch.source_device_id])
  assert.deepEqual([await ask({ provider: 'oura' }), await ask({ endDate: null })], [[], [only]])
  const [created, updated] = await summaryEvents(types, userId, 'sleep_cycle')
  has(created.data, { ...cycle, sleep_id: id })
  assert.deepEqual([created.data.id, updated.data.stageType.at(-1)], [only.id, 4])
}

// measured tests the stream of the sleep.
async function measured({ client }, userId, { id }) {
  const at = (minute) => new Date(Date.parse(cycle.session_start) + minute * 60_000).toISOString()
  const samples = (value) => [1, 2, 900].map((minute) => ({ timestamp: at(minute), value, timezone_offset: 7200 }))
  const series = { heartrate: samples(51), hrv: samples(61.5), respiratory_rate: samples(13.5) }
  await api('POST', `/v2/timeseries/${userId}`, { stage: 'daily', provider, source: { type: 'watch' }, series })
  const stream = await client.sleep.getStreamBySleepId({ sleepId: id })
  for (const [resource, [sample]] of Object.entries(inCamel(series))) {
    const unit = { heartrate: 'bpm', hrv: 'rmssd', respiratoryRate: 'bpm' }[resource]
    assert.deepEqual(stream[resource].map((of) => [of.timestamp.toISOString(), of.value, of.unit, of.timezoneOffset]),
      [1, 2].map((minute) => [at(minute), sample.value, unit, 7200]), resource)
  }
  assert.deepEqual(stream.hypnogram.map(({ value, unit }) => [value, unit]), [4, 2, 1, 3, -1, 4].map((stage) => [stage, 'stage']))
  assert.deepEqual([stream.hypnogram[0].start, stream.hypnogram.at(-1).end], [new Date(cycle.session_start), new Date(cycle.session_end)])
  await refused(client.sleep.getStreamBySleepId({ sleepId: 'none' }), 'UnprocessableEntityError', /sleep_id/)
  await assert.rejects(client.sleep.getStreamBySleepId({ sleepId: crypto.randomUUID() }), ({ statusCode }) => statusCode === 404)
}

// hypnogram tests the stages of all nights as a time series.
async function hypnogram({ client }, userId) {
  const ask = { userId, startDate: '2026-02-28', endDate: '2026-03-01', provider }
  const { groups } = await client.vitals.hypnogramGrouped(ask)
  const [{ source, data }] = groups[provider]
  assert.equal(source.type, 'watch')
  assert.deepEqual(data.map(({ value }) => value), cycle.stage_type.with(-1, 4))
  assert.deepEqual(data.map(({ start, end }) => (end - start) / 1000), cycle.stage_end_offset_second.map((end, i) => end - cycle.stage_start_offset_second[i]))
  const plain = await client.vitals.hypnogram(ask)
  assert.deepEqual(plain.map(({ value }) => value), data.map(({ value }) => value))
}

async function raw({ client }, userId, { id, createdAt }, watch) {
  const [only, ...others] = (await client.sleep.getRaw({ userId, ...range, provider })).sleep
  assert.deepEqual([only.id, only.userId, only.source.slug, only.createdAt, others], [id, userId, provider, createdAt, []])
  assert.equal(memberOf(only, 'sourceDeviceId'), watch.source_device_id)
  assert.equal(only.data.bedtime_stop, sleep.bedtime_stop)
  assert.equal((await client.sleep.getRaw({ userId, startDate: '2026-03-01', endDate: null, provider: null })).sleep.length, 5)
}
