// Webhooks at a receiver that checks signatures with the library of Standard Webhooks, or
// with the library of the reference's service.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { Webhook as StandardWebhook } from 'standardwebhooks'
import { Webhook as SvixWebhook } from 'svix'
import { api, decodeEvent } from '../events.mjs'

export default async function webhooks({ client, name, types }) {
  await readable(types)
  await delivered(client, name, types)
}

// otherwise lists the events that the libraries cannot read, by prefixes of their types.
const otherwise = {
  'historical.data.': 'examples have no is_final, as the specification says',
  'provider.connection.created': 'examples have no source; the specification has provider in its place',
}

// readable reads an example of every type of event.
async function readable(types) {
  const { event_types: catalogue } = await api('GET', '/v2/webhooks/event_types')
  const read = await Promise.all(
    catalogue.map(async ({ event_type: type }) => {
      try {
        return decodeEvent(types, await api('GET', `/v2/webhooks/examples/${type}`)) && { type }
      } catch (error) {
        return { type, error }
      }
    }),
  )
  assert.ok(read.filter(Boolean).length > 100, 'the library has decoders for most types')
  const unread = read.filter((one) => one?.error && !isOtherwise(one.type))
  assert.ok(unread.length === 0, unread.map(({ type, error }) => `${type}: ${error.message}`).join('\n'))
}

const isOtherwise = (type) => Object.keys(otherwise).some((beginning) => type.startsWith(beginning))

// delivered sends the events of a new user's device to a receiver, and verifies them.
async function delivered(client, name, types) {
  const receiver = await listen()
  const endpoint = await api('POST', '/v2/webhooks', { url: receiver.url })
  try {
    const { key } = await api('GET', `/v2/webhooks/${endpoint.id}/secret`)
    const { userId } = await client.user.create({ clientUserId: `webhooks-${name}-${Date.now()}` })
    await api('POST', `/v2/webhooks/${endpoint.id}/example`, { event_type: 'daily.data.sleep.created' })
    const { headers, body } = await receiver.next()
    for (const library of [StandardWebhook, SvixWebhook]) {
      const verifier = new library(key)
      verifier.verify(body, headers) // throws when the signature is another
      assert.throws(() => verifier.verify(`${body} `, headers), 'a changed body')
    }
    assert.ok(decodeEvent(types, JSON.parse(body)))
    await client.user.delete({ userId })
  } finally {
    await api('DELETE', `/v2/webhooks/${endpoint.id}`)
    receiver.close()
  }
}

// listen starts a receiver on loopback that accepts all posts. next() returns the next
// post.
async function listen() {
  const came = []
  const waiting = []
  const server = createServer(async (request, answer) => {
    let body = ''
    for await (const part of request) body += part
    answer.end()
    const post = { headers: request.headers, body }
    waiting.length > 0 ? waiting.shift()(post) : came.push(post)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${server.address().port}/hook`,
    next: () => (came.length > 0 ? came.shift() : new Promise((heard) => waiting.push(heard))),
    close: () => server.close(),
  }
}
