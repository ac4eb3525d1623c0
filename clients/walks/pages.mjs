// Time series of several pages, and samples with unusual times.
import assert from 'node:assert/strict'
import { api } from '../events.mjs'

const from = Date.parse('2026-03-01T00:00:00Z')
// howLong is the length of a series of more than a page, in seconds. The time that
// vital's library needs grows with the square of a list.
const howLong = { junction: 50_000, vital: 22_000 }

export default async function pages(library) {
  const { client, name } = library
  const { userId } = await client.user.create({ clientUserId: `pages-${name}-${Date.now()}`, fallbackTimeZone: 'Asia/Kolkata' })
  await long(library, userId)
  await untyped(library, userId)
  await zones(library, userId)
  await alone(library, userId)
}

// long tests a day of one heart rate per second, from two sources.
async function long({ client, name }, userId) {
  const seconds = howLong[name]
  const heartrate = Array.from({ length: seconds }, (_, i) => ({
    timestamp: new Date(from + 1000 * i).toISOString(), value: 60 + (i % 40), source_type: i % 2 ? 'watch' : 'chest_strap',
  }))
  await api('POST', `/v2/timeseries/${userId}`, { stage: 'daily', provider: 'apple_health_kit', series: { heartrate } })
  const ask = (more) => client.vitals.heartrateGrouped({ userId, startDate: '2026-03-01', endDate: '2026-03-01', provider: 'apple_health_kit', ...more })
  const seen = new Set()
  let page = await ask()
  const [second, same] = await Promise.all([ask({ nextCursor: page.nextCursor }), ask({ cursor: page.nextCursor })])
  assert.deepEqual(second, same)
  for (let read = 0; ; page = await ask({ nextCursor: page.nextCursor })) {
    assert.equal(page.next, page.nextCursor)
    assert.ok(++read < 10)
    for (const { source, data } of page.groups.apple_health_kit) for (const { timestamp } of data) seen.add(`${source.type} ${+timestamp}`)
    if (page.nextCursor == null) break
  }
  assert.equal(seen.size, seconds)
  assert.notEqual(second.groups.apple_health_kit, undefined, 'a second page')
  assert.equal((await client.vitals.heartrate({ userId, startDate: '2026-03-01' })).length, seconds)
}

// untyped tests samples without a type, in series that may have types.
async function untyped({ client }, userId) {
  for (const [resource, method] of [['ige', 'ige'], ['igg', 'igg'], ['electrocardiogram_voltage', 'electrocardiogramVoltage']]) {
    const data = [{ timestamp: '2026-03-02T08:00:00Z', value: 4 }]
    await api('POST', `/v2/timeseries/${userId}/${resource}`, { stage: 'daily', provider: 'manual', data })
    const { groups } = await client.vitals[`${method}Grouped`]({ userId, startDate: '2026-03-02' })
    assert.deepEqual(groups.manual[0].data.map(({ value, type }) => [value, type]), [[4, '']])
    assert.deepEqual((await client.vitals[method]({ userId, startDate: '2026-03-02' })).map(({ type }) => type), [''])
  }
}

// zones tests offsets from a sample, from the phone's zone and from the user's fallback
// zone.
async function zones({ client }, userId) {
  const at = (day, more) => ({ timestamp: `2026-04-0${day}T08:00:00+02:00`, value: 70, ...more })
  const push = (body) => api('POST', `/v2/timeseries/${userId}/body_weight`, { stage: 'daily', provider: 'health_connect', ...body })
  await push({ data: [at(1)] })
  await push({ data: [{ ...at(2), timestamp: '2026-04-02T06:00:00Z', timezone_offset: -3600 }] })
  await push({ time_zone: 'Europe/Helsinki', data: [{ ...at(3), timestamp: '2026-04-03T06:00:00Z' }] })
  await push({ data: [{ ...at(4), timestamp: '2026-04-04T06:00:00Z' }] })
  const all = await client.vitals.bodyWeight({ userId, startDate: new Date(from + 1).toISOString(), endDate: '2026-04-30' })
  assert.deepEqual(all.map(({ timezoneOffset }) => timezoneOffset), [7200, -3600, 10_800, 19_800])
  assert.deepEqual(all.map(({ timestamp }) => timestamp.getUTCHours()), [6, 6, 6, 6])
}

// alone tests one sample without a length for each series. Its end is its start.
async function alone({ client }, userId) {
  const data = [{ timestamp: '2026-03-02T08:00:00Z', value: 4 }]
  for (const resource of ['steps', 'caffeine']) {
    await api('POST', `/v2/timeseries/${userId}/${resource}`, { stage: 'daily', provider: 'manual', data })
    const [{ start, end, timestamp }] = await client.vitals[resource]({ userId, startDate: '2026-03-02' })
    assert.deepEqual([start, end], [timestamp, timestamp])
  }
}
