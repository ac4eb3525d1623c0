// Events as the libraries read them.
import assert from 'node:assert/strict'
const base = process.env.HALE_URL
const key = process.env.HALE_API_KEY

// compat is true if the team has the setting reference_compat on.
export const compat = process.env.HALE_REFERENCE_COMPAT === 'on'

// api calls a path for which the libraries have no method, and returns the answer. It
// throws unless the status is 2xx.
export async function api(method, path, body) {
  const answer = await fetch(base + path, {
    method,
    headers: { 'x-service-api-key': key, ...(body && { 'content-type': 'application/json' }) },
    body: body && JSON.stringify(body),
  })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`)
  return text === '' ? undefined : JSON.parse(text)
}

// eventsWhere returns the events of the team for which holds returns true, oldest first.
// If types are named, it returns only events of these types.
export async function eventsWhere(holds, types = []) {
  const found = []
  for (let after = 0, more = true; more; ) {
    const page = await api('GET', `/v2/events?after=${after}&limit=1000${types.map((type) => `&types=${type}`).join('')}`)
    found.push(...page.events.map(({ event }) => event).filter(holds))
    after = page.next_after
    more = page.has_more
  }
  return found
}

// eventsOf returns a user's events of some types, oldest first, unchanged.
export const eventsOf = (userId, ...types) => eventsWhere((event) => event.user_id === userId, types)

// labEventsOf returns a user's events of orders and results, oldest first. The feed also
// has events of the user, and no library has a decoder for their types.
export const labEventsOf = (userId) => eventsWhere((event) => event.user_id === userId && event.event_type.startsWith('labtest.'))

// decodeEvent decodes an event with the library's decoder for its type, and returns it
// with the library's names. It returns undefined if the library has no decoder.
export function decodeEvent(types, event) {
  const name = decoderOf(types, event.event_type)
  return name && types[name].parseOrThrow(event)
}

// withIsFinal returns the event of a complete history as the libraries require it.
// Without reference_compat it has no is_final, as in the specification.
export function withIsFinal(event) {
  assert.equal(event.data.is_final, compat ? true : undefined)
  return { ...event, data: { ...event.data, is_final: true } }
}

const decoders = new Map() // by a library's types: the names of its decoders, by type of event

function decoderOf(types, eventType) {
  if (!decoders.has(types)) decoders.set(types, new Map())
  const known = decoders.get(types)
  if (!known.has(eventType)) known.set(eventType, Object.keys(types).find((name) => reads(types[name], eventType)))
  return known.get(eventType)
}

// reads reports whether a decoder accepts this event and its type.
function reads(decoder, eventType) {
  const complaints = (value) => decoder?.parse?.(value).errors ?? []
  const wanted = complaints({}).some(({ message }) => message === 'Missing required key "event_type"')
  return wanted && !complaints({ event_type: eventType }).some(({ path }) => path[0] === 'event_type')
}
