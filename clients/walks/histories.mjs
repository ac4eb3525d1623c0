// A history from a file: its progress, its data and its events.
import assert from 'node:assert/strict'
import { decodeEvent, eventsOf, withIsFinal } from '../events.mjs'
import { until } from '../steps.mjs'

const base = process.env.HALE_URL
const key = process.env.HALE_API_KEY

export default async function histories(library) {
  const { client, name } = library
  const { userId } = await client.user.create({ clientUserId: `histories-${name}-${Date.now()}` })
  const id = await upload(userId)
  const of = async () => (await client.introspect.getUserHistoricalPulls({ userId })).data[0].provider.apple_health_kit
  await onItsWay(await of(), id)
  const { pulled, notPulled } = await until(of, ({ pulled }) => Object.values(pulled).every(({ status }) => status === 'success'))
  assert.deepEqual(Object.keys(pulled).sort(), ['activity', 'heartrate'])
  assert.equal(pulled.heartrate.daysWithData, 1)
  assert.ok(notPulled.includes('sleep'))
  await checkEvents(library, userId)
}

// onItsWay asserts that every resource of the file is listed. Sometimes the file has
// already been read.
async function onItsWay({ pulled }, id) {
  for (const [resource, { status, timeline, traceId, rangeStart }] of Object.entries(pulled)) {
    if (status === 'success') continue
    assert.ok(['scheduled', 'in_progress'].includes(status), `${resource} is ${status}`)
    assert.ok(timeline.scheduledAt <= Date.now() && (timeline.endedAt ?? null) === null)
    assert.deepEqual([traceId, rangeStart ?? null], [id, null])
  }
}

async function checkEvents({ types }, userId) {
  const [event] = await eventsOf(userId, 'historical.data.heartrate.created')
  const { data } = decodeEvent(types, withIsFinal(event))
  assert.deepEqual([data.userId, data.provider], [userId, 'apple_health_kit'])
  assert.deepEqual([data.startDate, data.endDate], [new Date('2026-02-28T12:00:00Z'), new Date('2026-02-28T12:01:00Z')])
}

const beat = (minute) => `<Record type="HKQuantityTypeIdentifierHeartRate" sourceName="Watch" unit="count/min" value="61"
  startDate="2026-02-28 12:0${minute}:00 +0000" endDate="2026-02-28 12:0${minute}:00 +0000"/>`
const file = `<?xml version="1.0"?><HealthData locale="en_US"><ExportDate value="2026-03-01 12:00:00 +0000"/>${beat(0)}${beat(1)}</HealthData>`

async function upload(userId) {
  const headers = { 'x-service-api-key': key, 'content-type': 'application/xml' }
  const answer = await fetch(`${base}/v2/user/${userId}/imports?kind=apple_health`, { method: 'POST', headers, body: file })
  return (await answer.json()).id
}
