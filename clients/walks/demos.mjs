// Connections to providers with synthetic data: creation, refresh, events and end.
import assert from 'node:assert/strict'
import { compat, decodeEvent, eventsOf, withIsFinal } from '../events.mjs'
import { refused, refusedWith, until } from '../steps.mjs'

// demos lists the providers with synthetic data.
const demos = ['apple_health_kit', 'fitbit', 'freestyle_libre', 'oura']

export default async function demoConnections(library) {
  const { client, name } = library
  await catalogue(library)
  const { userId } = await client.user.create({ clientUserId: `demos-${name}-${Date.now()}` })
  await alone(library, userId)
  await connect(library, userId)
  await refresh(library, userId)
  await checkEvents(library, userId)
  await often(library, userId)
  await end(library, userId)
}

async function catalogue({ client, types }) {
  const all = await client.providers.getAll()
  for (const { slug, logo, description, authType, supportedResources } of all) {
    assert.ok(description && supportedResources.length > 0, slug)
    assert.match(logo, /^https?:\/\/.+\.svg$/)
    if (authType != null) assert.ok(types.SourceAuthType.parseOrThrow(authType), slug)
  }
  for (const slug of demos) assert.ok(all.some((one) => one.slug === slug), slug)
  const [app] = await client.providers.getAll({ sourceType: 'app' })
  assert.ok(app && all.some(({ slug }) => slug === app.slug))
  assert.deepEqual(await client.providers.getAll({ sourceType: 'nothing' }), [])
  assert.deepEqual(await client.providers.getAll({ sourceType: null }), all)
}

// alone tests a user without connections.
async function alone({ client }, userId) {
  assert.deepEqual(await client.user.getConnectedProviders({ userId }), { providers: [] })
  assert.deepEqual(await client.user.getDevices({ userId }), [])
  const nothing = await client.user.refresh({ userId, timeout: 5 }).catch((error) => error)
  assert.equal(nothing.constructor.name, 'BadRequestError')
  assert.deepEqual([nothing.body.success, nothing.body.user_id, nothing.body.failed_sources], [false, userId, []])
  assert.ok(nothing.body.error)
}

async function connect({ client }, userId) {
  for (const provider of demos) {
    const status = await client.link.connectDemoProvider({ userId, provider })
    assert.deepEqual([status.success, status.detail], [true, `Connected user ${userId} to provider ${provider}`])
  }
  const { providers } = await client.user.getConnectedProviders({ userId })
  assert.deepEqual(providers.map(({ slug }) => slug).sort(), demos)
  for (const { name, logo, status, createdOn, externalUserId, errorDetails, resourceAvailability } of providers) {
    assert.ok(name && logo && createdOn instanceof Date)
    assert.deepEqual([status, externalUserId ?? null, errorDetails ?? null], ['connected', null, null])
    for (const [resource, one] of Object.entries(resourceAvailability)) {
      assert.equal(one.status, 'available', resource)
      const none = { required: [], optional: [] }
      assert.deepEqual(one.scopeRequirements, { userGranted: none, userDenied: none })
    }
  }
  const { connectedSources } = await client.user.get({ userId })
  assert.deepEqual(connectedSources.map(({ provider }) => provider.slug).sort(), demos)
  for (const { provider, source, createdOn } of connectedSources) {
    assert.deepEqual(source, provider)
    assert.ok(createdOn instanceof Date)
  }
}

async function refresh({ client }, userId) {
  const done = await client.user.refresh({ userId, timeout: 30.5 })
  assert.deepEqual([done.success, done.userId, done.inProgressSources, done.failedSources], [true, userId, [], []])
  assert.ok(done.refreshedSources.includes('oura/sleep'))
  assert.equal((await client.user.refresh({ userId, timeout: null })).success, true)
}

// often refreshes a user more than the allowed eight times in an hour.
async function often({ client }, userId) {
  const all = []
  for (let turn = 0; turn < 8; turn++) all.push(await client.user.refresh({ userId }).then(({ success }) => success, ({ statusCode }) => statusCode))
  assert.deepEqual([all[0], all.at(-1)], [true, 429])
}

// checkEvents checks all events of connections, devices and histories.
async function checkEvents({ types }, userId) {
  const created = await eventsOf(userId, 'provider.connection.created')
  assert.deepEqual(created.map(({ data }) => data.provider.slug).sort(), demos)
  for (const event of created) {
    assert.deepEqual(event.data.source, compat ? event.data.provider : undefined)
    if (compat) assert.equal(decodeEvent(types, event).data.source.slug, event.data.provider.slug)
  }
  const devices = (await eventsOf(userId, 'provider.device.created')).map((event) => decodeEvent(types, event))
  for (const { userId: of, data } of devices) assert.deepEqual([of, data.userId, typeof data.provider], [userId, userId, 'string'])
  const pulls = await until(() => eventsOf(userId, 'historical.data.sleep.created'), (events) => events.length === 3)
  for (const pull of pulls) {
    const event = types.HistoricalPullCompleted.parseOrThrow(withIsFinal(pull).data)
    assert.deepEqual([event.userId, demos.includes(event.provider)], [userId, true])
    assert.ok(event.startDate < event.endDate)
  }
}

async function end({ client, types }, userId) {
  for (const provider of demos) assert.deepEqual(await client.user.deregisterProvider({ userId, provider }), { success: true })
  assert.deepEqual(await client.user.getConnectedProviders({ userId }), { providers: [] })
  assert.deepEqual((await client.user.get({ userId })).connectedSources, [])
  await refusedWith(client.user.deregisterProvider({ userId, provider: 'oura' }), 404, /detail/)
  await refused(client.user.refresh({ userId, timeout: 1 }), 'UnprocessableEntityError', /timeout/)
}
