// A user whose phone sends data: its devices, and the statistics of the user's resources.
import assert from 'node:assert/strict'
import { api, decodeEvent, eventsOf, withIsFinal } from '../events.mjs'
import { refused, refusedWith } from '../steps.mjs'

export default async function phones(library) {
  const { client, name } = library
  const { userId } = await client.user.create({ clientUserId: `phones-${name}-${Date.now()}` })
  await client.user.create({ clientUserId: `phoneless-${name}-${Date.now()}` })
  if (name === 'vital') await agree(library, userId)
  const device = await devices(library, userId)
  await send(userId, device)
  await heard(library, userId)
  await pulled(library, userId)
  await everybody(library)
  await refusals(library, userId)
  if (name === 'vital') await disagree(library, userId)
}

// agree connects the user before any data. Junction has no method for it.
async function agree({ client }, userId) {
  const request = { userId, providerId: 'nobody asks for it', provider: 'apple_health_kit' }
  assert.deepEqual(await client.link.connectManualProvider(request), { success: true })
}

// disagree ends the collection of the user's data.
async function disagree({ client }, userId) {
  await client.user.patch({ userId, ingestionEnd: '2026-01-01' })
  await assert.rejects(client.link.connectManualProvider({ userId, provider: 'health_connect' }), ({ statusCode, body }) => {
    assert.deepEqual([statusCode, body.detail.error_type], [400, 'connection_paused'])
    return true
  })
}

const watch = {
  provider: 'apple_health_kit', source_type: 'watch', app_id: 'com.example.health', device_manufacturer: 'Example', device_model: 'Watch7,1',
  device_version: '10.1', device_id: 'watch-1',
}

async function devices({ client, types }, userId) {
  const { id } = await api('POST', `/v2/user/${userId}/device`, watch)
  await api('POST', `/v2/user/${userId}/device`, { ...watch, device_version: '10.2' })
  const device = await client.user.getDevice({ userId, deviceId: id })
  assert.deepEqual({ ...device }, {
    id, userId, provider: 'apple_health_kit', sourceType: 'watch', appId: 'com.example.health', deviceManufacturer: 'Example',
    deviceModel: 'Watch7,1', deviceVersion: '10.2', deviceId: 'watch-1',
  })
  const bare = await api('POST', `/v2/user/${userId}/device`, { provider: 'health_connect', device_model: 'Phone 3' })
  const all = await client.user.getDevices({ userId })
  assert.deepEqual(all.map((one) => one.id).sort(), [id, bare.id].sort())
  assert.equal(all.find((one) => one.id === bare.id).sourceType, 'unknown')
  const events = (await eventsOf(userId, 'provider.device.created', 'provider.device.updated')).map((event) => decodeEvent(types, event))
  assert.deepEqual(events.map(({ eventType, data }) => [eventType, data.id, data.deviceVersion ?? null]), [
    ['provider.device.created', id, '10.1'], ['provider.device.updated', id, '10.2'], ['provider.device.created', bare.id, null],
  ])
  assert.deepEqual(events[1].data, device)
  await raw({ client }, userId, device)
  return id
}

async function raw({ client }, userId, device) {
  const { devices: all } = await client.devices.getRaw({ userId })
  assert.equal(all.length, 2)
  const { devices: [one] } = await client.devices.getRaw({ userId, provider: 'apple_health_kit' })
  assert.deepEqual([one.id, one.userId, one.source.slug, one.providerId], [device.id, userId, 'apple_health_kit', 'watch-1'])
  assert.ok(Object.keys(one.data).length > 0 && Number.isInteger(one.sourceId))
  assert.deepEqual(await client.devices.getRaw({ userId, provider: 'fitbit' }), { devices: [] })
}

// send pushes heart rates of two days as the end of the history, steps, and an implausible
// glucose value.
async function send(userId, device) {
  const data = ['2026-03-01T12:00:00Z', '2026-03-02T12:00:00Z'].map((timestamp, at) => ({
    timestamp, value: 61 + at, source_type: 'watch', source_app_id: watch.app_id, source_device_id: device,
  }))
  const whole = { start_date: '2026-02-01T00:00:00Z', end_date: '2026-03-03T00:00:00Z', is_final_chunk: true }
  await api('POST', `/v2/timeseries/${userId}/heartrate`, { stage: 'historical', provider: 'apple_health_kit', data, ...whole })
  await api('POST', `/v2/timeseries/${userId}/steps`, { stage: 'daily', provider: 'apple_health_kit', data: [{ ...data[0], end: '2026-03-01T12:05:00Z' }] })
  const sugar = { timestamp: '2026-03-01T12:00:00Z', value: 9000, source_type: 'automatic' }
  await api('POST', `/v2/timeseries/${userId}/glucose`, { stage: 'daily', provider: 'apple_health_kit', data: [sugar] })
}

async function heard({ client }, userId) {
  const { data: [one] } = await client.introspect.getUserResources({ userId, provider: 'apple_health_kit', userLimit: 1 })
  assert.equal(one.userId, userId)
  const { heartrate, steps, glucose } = one.provider.apple_health_kit
  assert.equal(heartrate.lastAttempt.status, 'success')
  assert.ok(Date.now() - heartrate.lastAttempt.timestamp < 60_000)
  assert.deepEqual([heartrate.oldestData, heartrate.newestData], [new Date('2026-03-01T12:00:00Z'), new Date('2026-03-02T12:00:00Z')])
  assert.ok(heartrate.sentCount >= 0)
  assert.equal(steps.sentCount, 1)
  assert.deepEqual([glucose.lastAttempt.status, glucose.sentCount, glucose.oldestData ?? null, glucose.newestData ?? null], ['failure', 0, null, null])
}

async function pulled({ client, types }, userId) {
  const { data: [one] } = await client.introspect.getUserHistoricalPulls({ userId, provider: 'apple_health_kit', userLimit: 1 })
  const { pulled: { heartrate }, notPulled } = one.provider.apple_health_kit
  assert.deepEqual([heartrate.status, heartrate.daysWithData], ['success', 2])
  assert.deepEqual([heartrate.rangeStart, heartrate.rangeEnd], [new Date('2026-02-01T00:00:00Z'), new Date('2026-03-03T00:00:00Z')])
  const { scheduledAt, startedAt, endedAt } = heartrate.timeline
  assert.ok(scheduledAt <= startedAt && startedAt <= endedAt && heartrate.release)
  assert.ok(notPulled.includes('sleep') && !notPulled.includes('heartrate'))
  const [event] = await eventsOf(userId, 'historical.data.heartrate.created')
  const { data } = types.ClientFacingHeartrateHistoricalPullCompleted.parseOrThrow(withIsFinal(event))
  assert.deepEqual([data.startDate, data.endDate, data.provider], [heartrate.rangeStart, heartrate.rangeEnd, 'apple_health_kit'])
}

// everybody reads the pages of all users.
async function everybody({ client }) {
  for (const method of ['getUserResources', 'getUserHistoricalPulls']) {
    const read = (request) => client.introspect[method]({ userLimit: 1, ...request })
    const first = await read({ userId: null })
    assert.ok(first.data.length === 1 && first.next === first.nextCursor)
    const second = await read({ nextCursor: first.nextCursor })
    assert.notEqual(second.data[0].userId, first.data[0].userId)
    assert.deepEqual(await read({ cursor: first.nextCursor }), second)
    assert.equal((await client.introspect[method]({ userLimit: 500 })).nextCursor ?? null, null)
  }
}

async function refusals({ client }, userId) {
  const nobody = '00000000-0000-4000-8000-000000000000'
  await refusedWith(client.user.getDevice({ userId, deviceId: nobody }), 404, /detail/)
  await refused(client.user.getDevice({ userId, deviceId: 'watch' }), 'UnprocessableEntityError', /device_id/)
  await refused(client.introspect.getUserResources({ userLimit: 0 }), 'UnprocessableEntityError', /user_limit/)
  await refusedWith(client.link.connectDemoProvider({ userId, provider: 'oura' }), 400, /detail/)
}
