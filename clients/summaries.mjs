// Summaries as phones push them and the libraries read them.
import assert from 'node:assert/strict'
import { api, decodeEvent, eventsOf, withIsFinal } from './events.mjs'
import { inCamel, memberOf } from './vitals.mjs'

// watchOf registers a watch of a user, and returns the source of its pushed values.
export async function watchOf(userId, provider) {
  const { id } = await api('POST', `/v2/user/${userId}/device`, { provider, source_type: 'watch', device_model: 'One', device_manufacturer: 'Example' })
  return { source_type: 'watch', source_app_id: 'com.example.watch', source_device_id: id }
}

// push sends summaries of one kind, of which none may be rejected.
export async function push(userId, kind, provider, data, more) {
  const answer = await api('POST', `/v2/summary/${kind}/${userId}`, { stage: 'daily', provider, data, ...more })
  assert.deepEqual(answer.rejected, [])
  return answer
}

// has asserts that a decoded summary says what was pushed: instants as dates,
// and the rest word by word. other is what is read otherwise.
export function has(summary, pushed, other) {
  for (const [name, value] of Object.entries({ ...inCamel(pushed), ...other })) {
    if (/^source(Type|AppId|DeviceId)$/.test(name)) continue
    assert.deepEqual(plain(memberOf(summary, name)), plain(asRead(value)), name)
  }
}

// plain is a part of a summary without members that say nothing, which only one
// of the libraries keeps.
function plain(value) {
  if (Array.isArray(value)) return value.map(plain)
  if (typeof value !== 'object' || value === null || value instanceof Date) return value
  return Object.fromEntries(Object.entries(value).filter(([, part]) => part != null).map(([name, part]) => [name, plain(part)]))
}

// asRead turns instants into dates.
const asRead = (value) => (typeof value === 'string' && /^\d{4}-\d\d-\d\dT/.test(value) ? new Date(value) : value)

// isFrom asserts what a summary says of itself: whose it is, of which source and
// when it came.
export function isFrom(summary, userId, provider, watch) {
  assert.match(summary.id, /^[0-9a-f-]{36}$/)
  assert.equal(summary.userId, userId)
  const { provider: of, slug, name, logo, type, appId, deviceId, sport, workoutId } = summary.source
  assert.ok(slug === of && name && logo)
  const expected = watch ? ['watch', watch.source_app_id, watch.source_device_id] : ['unknown', null, null]
  assert.deepEqual([of, type, appId ?? null, deviceId ?? null, sport ?? null, workoutId ?? null], [provider, ...expected, null, null])
  for (const date of [summary.createdAt, summary.updatedAt]) assert.ok(date instanceof Date && Math.abs(Date.now() - date) < 60_000)
}

// summaryEvents returns a user's events of a kind of summary: created and then updated.
export async function summaryEvents(types, userId, kind) {
  const events = await eventsOf(userId, `daily.data.${kind}.created`, `daily.data.${kind}.updated`)
  return events.map((event) => {
    const decoded = decodeEvent(types, event)
    assert.ok(decoded, `no decoder of ${event.event_type}`)
    assert.deepEqual([decoded.eventType, decoded.userId, decoded.data.userId], [event.event_type, userId, userId])
    return decoded
  })
}

// ended sends the end of a kind's history and decodes its event.
export async function ended(types, userId, kind, provider) {
  await push(userId, kind, provider, [], { stage: 'historical', is_final_chunk: true, start_date: '2026-01-01', end_date: '2026-01-31' })
  const [event] = await eventsOf(userId, `historical.data.${kind}.created`)
  const { data } = decodeEvent(types, withIsFinal(event))
  assert.deepEqual([data.userId, data.provider, data.startDate], [userId, provider, new Date('2026-01-01')])
}
