// Workouts, their maps and streams.
import assert from 'node:assert/strict'
import { ended, has, isFrom, push, summaryEvents, watchOf } from '../summaries.mjs'
import { refused, until } from '../steps.mjs'
import { memberOf } from '../vitals.mjs'

const provider = 'apple_health_kit'
const range = { startDate: '2026-03-01', endDate: '2026-03-02' }

const ride = {
  title: 'Morgenrunde', timezone_offset: 3600, average_hr: 131, max_hr: 171, distance: 21_500.5, calendar_date: '2026-03-01', time_start: '2026-03-01T07:00:00Z',
  time_end: '2026-03-01T08:00:00Z', calories: 520.5, hr_zones: [60, 120, 600, 1800, 900, 120], moving_time: 3500, total_elevation_gain: 310.5, elev_high: 420.5,
  elev_low: 180.25, average_speed: 5.97, max_speed: 13.2, average_watts: 180.5, device_watts: 175, max_watts: 640, weighted_average_watts: 201.5, steps: 12,
  map: { polyline: '_p~iF~ps|U_ulLnnqC', summary_polyline: '_p~iF~ps|U' }, provider_id: 'ride-1', sport: { id: 108, name: 'Cycling', slug: 'cycling' },
}

export default async function workouts(library) {
  const { client, name } = library
  const { userId } = await client.user.create({ clientUserId: `workouts-${name}-${Date.now()}` })
  const watch = await watchOf(userId, provider)
  const first = await pushed(library, userId, watch)
  await raw(library, userId, first, watch)
  await zones(library, userId)
  await recorded(library, userId)
  await ended(library.types, userId, 'workouts', provider)
  await refused(client.workouts.getByWorkoutId({ workoutId: 'none' }), 'UnprocessableEntityError', /workout_id/)
  await assert.rejects(client.workouts.getByWorkoutId({ workoutId: crypto.randomUUID() }), ({ statusCode }) => statusCode === 404)
}

async function pushed({ client, types }, userId, watch) {
  await push(userId, 'workouts', provider, [{ ...ride, ...watch }])
  await push(userId, 'workouts', provider, [{ ...ride, title: 'Runde', ...watch }])
  const ask = async (more) => (await client.workouts.get({ userId, ...range, ...more })).workouts
  const [only, ...others] = await ask({ provider })
  assert.deepEqual(others, [])
  has(only, { ...ride, title: 'Runde' })
  isFrom(only, userId, provider, watch)
  assert.deepEqual([await ask({ provider: 'oura' }), await ask({ endDate: null, provider: null })], [[], [only]])
  const [created, updated] = await summaryEvents(types, userId, 'workouts')
  has(created.data, ride)
  assert.deepEqual([updated.eventType, updated.data.id, updated.data.title], ['daily.data.workouts.updated', only.id, 'Runde'])
  const nothing = await client.workouts.getByWorkoutId({ workoutId: only.id })
  assert.deepEqual(Object.values(columns(nothing)), Array(11).fill([]))
  return only
}

async function raw({ client }, userId, { id, createdAt, sport }, watch) {
  const [only, ...others] = (await client.workouts.getRaw({ userId, ...range, provider })).workouts
  assert.deepEqual([only.id, only.userId, only.source.slug, only.createdAt, others], [id, userId, provider, createdAt, []])
  assert.deepEqual([only.sport, only.sportId, memberOf(only, 'sourceDeviceId')], [sport, sport.id, watch.source_device_id])
  assert.equal(only.data.title, 'Runde')
  assert.equal((await client.workouts.getRaw({ userId, startDate: '2026-03-01', endDate: null, provider: null })).workouts.length, 1)
}

// zones tests a workout with times only.
async function zones({ client }, userId) {
  await push(userId, 'workouts', 'manual', [{ time_start: '2026-03-02T07:00:00+01:00', time_end: '2026-03-02T07:30:00+01:00' }])
  const [only] = (await client.workouts.get({ userId, startDate: '2026-03-02', endDate: '2026-03-02' })).workouts
  assert.deepEqual([only.calendarDate, only.timeStart, only.timezoneOffset], ['2026-03-02', new Date('2026-03-02T06:00:00Z'), 3600])
  assert.deepEqual([only.providerId, only.sport], ['', { id: 3000, name: 'Other', slug: 'other' }])
  isFrom(only, userId, 'manual')
}

// recorded is a file of a run with its positions.
async function recorded({ client, types }, userId) {
  await upload(userId)
  const [only] = await until(async () => (await client.workouts.get({ userId, startDate: '2026-04-01', provider: 'garmin' })).workouts, ({ length }) => length > 0)
  const stream = columns(await client.workouts.getByWorkoutId({ workoutId: only.id }))
  const start = Date.parse('2026-04-01T06:00:00Z') / 1000
  assert.deepEqual(stream.time, [start, start + 60])
  assert.deepEqual([stream.heartrate, stream.distance, stream.altitude, stream.velocitySmooth], [[110, 131], [0, 200], [300, null], [3.5, null]])
  assert.deepEqual([stream.lat, stream.lng, stream.power, stream.cadence], [[46, null], [14, null], [250, null], [168, null]])
  assert.deepEqual([stream.resistance, stream.temperature], [[], []])
  const [{ data, eventType }] = await summaryEvents(types, userId, 'workout_stream')
  assert.deepEqual([eventType, data.workoutId, data.providerId, data.sport], ['daily.data.workout_stream.created', only.id, only.providerId, only.sport])
  assert.deepEqual([typeof data.message, data.source.provider], ['string', 'garmin'])
  const [kept] = (await client.workouts.getRaw({ userId, startDate: '2026-04-01' })).workouts
  assert.deepEqual([kept.id, typeof kept.data.payload_id], [only.id, 'string'])
}

// columns returns the lists of a stream. Where the libraries differ, it has an empty list
// for a missing list, and null for a missing value.
const columns = (stream) => Object.fromEntries(Object.entries(stream).map(([name, list]) => [name, (list ?? []).map((value) => value ?? null)]))

async function upload(userId) {
  const headers = { 'x-service-api-key': process.env.HALE_API_KEY, 'content-type': 'application/octet-stream' }
  const answer = await fetch(`${process.env.HALE_URL}/v2/user/${userId}/imports`, { method: 'POST', headers, body: run })
  assert.ok(answer.ok, String(answer.status))
}

const run = `<?xml version="1.0"?>
<TrainingCenterDatabase xmlns="http://www.garmin.com/xmlschemas/TrainingCenterDatabase/v2" xmlns:ns3="http://www.garmin.com/xmlschemas/ActivityExtension/v2">
<Activities><Activity Sport="Running"><Id>2026-04-01T06:00:00Z</Id>
<Lap StartTime="2026-04-01T06:00:00Z"><TotalTimeSeconds>60</TotalTimeSeconds><DistanceMeters>200</DistanceMeters><Calories>15</Calories><Track>
<Trackpoint><Time>2026-04-01T06:00:00Z</Time><Position><LatitudeDegrees>46</LatitudeDegrees><LongitudeDegrees>14</LongitudeDegrees></Position>
<AltitudeMeters>300</AltitudeMeters><DistanceMeters>0</DistanceMeters><HeartRateBpm><Value>110</Value></HeartRateBpm>
<Extensions><ns3:TPX><ns3:Speed>3.5</ns3:Speed><ns3:RunCadence>84</ns3:RunCadence><ns3:Watts>250</ns3:Watts></ns3:TPX></Extensions></Trackpoint>
<Trackpoint><Time>2026-04-01T06:01:00Z</Time><DistanceMeters>200</DistanceMeters><HeartRateBpm><Value>131</Value></HeartRateBpm></Trackpoint>
</Track></Lap><Creator><Name>Garmin Forerunner 965</Name><UnitId>3999999999</UnitId></Creator></Activity></Activities></TrainingCenterDatabase>`
