// Events as the libraries read them.
import assert from 'node:assert/strict'
const base = process.env.HALE_URL
const key = process.env.HALE_API_KEY

// compat is true if the team has the setting reference_compat on.
export const compat = process.env.HALE_REFERENCE_COMPAT === 'on'

// api calls a path that the libraries have no method for and returns what was
// answered; other than 2xx throws.
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

// eventsWhere are the events of the team, oldest first, of which holds is true;
// of some types only, when they are named.
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

// eventsOf are a user's events of some types, oldest first, as they were sent.
export const eventsOf = (userId, ...types) => eventsWhere((event) => event.user_id === userId, types)

// labEventsOf are a user's events of orders and results, oldest first. The feed also
// tells of the user, in types that no library has a decoder for.
export const labEventsOf = (userId) => eventsWhere((event) => event.user_id === userId && event.event_type.startsWith('labtest.'))

// decodeEvent reads an event by the decoder that a library has for its type and
// returns it in the library's names; undefined when the library has none.
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

// reads says whether a decoder wants a type of event, and takes this one.
function reads(decoder, eventType) {
  const complaints = (value) => decoder?.parse?.(value).errors ?? []
  const wanted = complaints({}).some(({ message }) => message === 'Missing required key "event_type"')
  return wanted && !complaints({ event_type: eventType }).some(({ path }) => path[0] === 'event_type')
}
