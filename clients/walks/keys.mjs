// Authentication by each library: the key in the library's header, in the service's
// header, or as a bearer token. Also calls for which the library has no method.
import assert from 'node:assert/strict'
import { JunctionClient } from '@junction-api/sdk'
import { VitalClient } from '@tryvital/vital-node'

const baseUrl = process.env.HALE_URL
const key = process.env.HALE_API_KEY

export default async function keys({ client, name }) {
  const Library = name === 'junction' ? JunctionClient : VitalClient
  const ways = {
    'its own header': { apiKey: key },
    'a header of the service': { apiKey: '', headers: { 'x-service-api-key': key } },
    'a bearer': { apiKey: '', headers: { authorization: `Bearer ${key}` } },
  }
  for (const [way, options] of Object.entries(ways)) {
    const { total } = await new Library({ baseUrl, ...options }).user.getAll()
    assert.ok(total >= 0, way)
  }
  await assert.rejects(new Library({ baseUrl, apiKey: 'sk_wrong' }).user.getAll(), (error) => {
    assert.deepEqual([error.constructor.name, error.statusCode], [name === 'junction' ? 'JunctionError' : 'VitalError', 401])
    return true
  })
  if (name === 'junction') await passThrough(client)
}

// passThrough calls an operation without a method by its whole address, because the
// library encodes the query of a path wrongly. Vital cannot do this.
async function passThrough(client) {
  const answer = await client.fetch({ input: `${baseUrl}/v2/events?after=0&limit=1` })
  const { events } = await answer.json()
  assert.equal(events.length, 1)
}
