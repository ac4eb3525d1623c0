// Days, bodies and profiles: pushes, revisions, reads, raw reads and events.
import assert from 'node:assert/strict'
import { ended, has, isFrom, push, summaryEvents, watchOf } from '../summaries.mjs'
import { refused } from '../steps.mjs'

const provider = 'apple_health_kit'
const range = { startDate: '2026-03-01', endDate: '2026-03-02' }

const day = {
  calendar_date: '2026-03-01', calories_total: 2210.5, calories_active: 512.25, steps: 9123, daily_movement: 7200.5, distance: 7321.75,
  low: 120.5, medium: 45, high: 12.25, floors_climbed: 7, time_zone: 'Europe/Helsinki', timezone_offset: 7200, wheelchair_use: true, wheelchair_push: 14,
  heart_rate: { avg_bpm: 71.5, min_bpm: 48, max_bpm: 163, resting_bpm: 54, avg_walking_bpm: 92.5 },
}

const body = {
  calendar_date: '2026-03-01', weight: 70.25, fat: 21.5, water_percentage: 55.5, muscle_mass_percentage: 40.25, visceral_fat_index: 6,
  bone_mass_percentage: 4.5, body_mass_index: 22.75, lean_body_mass_kilogram: 54.5, waist_circumference_centimeter: 80.5,
}

const profile = { height: 172, birth_date: '1984-05-17', wheelchair_use: true, gender: 'female', sex: 'female' }

export default async function days(library) {
  const { client, name } = library
  const { userId } = await client.user.create({ clientUserId: `days-${name}-${Date.now()}` })
  const watch = await watchOf(userId, provider)
  await dated(library, userId, watch, 'activity', day, { steps: 9200 })
  await dated(library, userId, watch, 'body', body, { weight: 70.5 })
  await single(library, userId, watch)
  for (const kind of ['activity', 'body', 'profile']) await ended(library.types, userId, kind, provider)
  await refusals(library, userId)
}

// dated tests summaries with a day.
async function dated({ client, types }, userId, watch, kind, full, newer) {
  const bare = { calendar_date: '2026-03-02', ...newer }
  await push(userId, kind, provider, [{ ...full, ...watch }])
  await push(userId, kind, provider, [{ ...full, ...newer, ...watch }])
  await push(userId, kind, 'manual', [bare])
  const [first, second, ...others] = (await client[kind].get({ userId, ...range, provider: null }))[kind]
  assert.deepEqual(others, [])
  has(first, { ...full, ...newer }, { date: new Date('2026-03-01') })
  isFrom(first, userId, provider, watch)
  has(second, bare)
  isFrom(second, userId, 'manual')
  const ask = async (more) => (await client[kind].get({ userId, ...range, ...more }))[kind].map(({ id }) => id)
  assert.deepEqual(await ask({ provider: 'manual' }), [second.id])
  assert.deepEqual(await ask({ startDate: '2026-03-02T00:00:00.000Z', endDate: null }), [second.id])
  assert.deepEqual(await ask({ endDate: '2026-03-01T00:00:00+00:00' }), [first.id])
  assert.deepEqual(await ask({ startDate: '2026-03-03', endDate: undefined }), [])
  const events = await summaryEvents(types, userId, kind)
  assert.deepEqual(events.map(({ eventType }) => eventType.split('.').at(-1)), ['created', 'updated', 'created'])
  has(events[0].data, full)
  assert.deepEqual([events[1].data.id, events[2].data.id], [first.id, second.id])
  await raw({ client }, userId, kind, first, watch)
}

// raw asserts that a raw read returns the last push unchanged.
async function raw({ client }, userId, kind, summary, watch) {
  const [only, ...others] = (await client[kind].getRaw({ userId, ...range, provider }))[kind]
  assert.deepEqual([only.id, only.userId, others], [summary.id, userId, []])
  assert.equal(only.data.calendar_date, '2026-03-01')
  assert.equal(only.source.slug, provider)
  assert.deepEqual([only.sourceDeviceId, only.createdAt, only.updatedAt], [watch.source_device_id, summary.createdAt, summary.updatedAt])
  assert.ok(only.timestamp instanceof Date && only.timestamp.getUTCFullYear() === 2026, String(only.timestamp))
  assert.equal((await client[kind].getRaw({ userId, startDate: '2026-03-01', endDate: null }))[kind].length, 2)
}

async function single({ client, types }, userId, watch) {
  await assert.rejects(client.profile.get({ userId }), ({ statusCode }) => statusCode === 404)
  await push(userId, 'profile', provider, [{ ...profile, ...watch }])
  await push(userId, 'profile', provider, [{ ...profile, height: 173, ...watch }])
  const read = await client.profile.get({ userId, provider })
  has(read, { ...profile, height: 173 })
  isFrom(read, userId, provider, watch)
  assert.deepEqual(await client.profile.get({ userId, provider: null }), read)
  assert.deepEqual(await client.profile.get({ userId }), read)
  const events = await summaryEvents(types, userId, 'profile')
  assert.deepEqual(events.map(({ eventType, data }) => [eventType, data.height]), [['daily.data.profile.created', 172], ['daily.data.profile.updated', 173]])
  const { profile: kept } = await client.profile.getRaw({ userId, provider })
  assert.deepEqual([kept.id, kept.userId, kept.source.slug, kept.data.height], [read.id, userId, provider, 173])
  assert.deepEqual((await client.profile.getRaw({ userId, provider: null })).profile.createdAt, read.createdAt)
}

async function refusals({ client }, userId) {
  for (const kind of ['activity', 'body', 'sleep', 'workouts', 'meal', 'menstrualCycle', 'electrocardiogram', 'sleepCycle']) {
    await refused(client[kind].get({ userId, startDate: 'soon' }), 'UnprocessableEntityError', /start_date/)
    await refused(client[kind].get({ userId: 'nobody', startDate: '2026-03-01' }), 'UnprocessableEntityError', /user_id/)
    await assert.rejects(client[kind].get({ userId: crypto.randomUUID(), startDate: '2026-03-01' }), ({ statusCode }) => statusCode === 404)
  }
  for (const kind of ['activity', 'body', 'sleep', 'workouts']) {
    await refused(client[kind].getRaw({ userId, startDate: '2026-03-02', endDate: '2026-03-01' }), 'UnprocessableEntityError', /end_date/)
  }
  await refused(client.profile.getRaw({ userId: 'nobody' }), 'UnprocessableEntityError', /user_id/)
}
