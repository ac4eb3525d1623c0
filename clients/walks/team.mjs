// The team: its object, its metrics, its priorities of providers.
import assert from 'node:assert/strict'
import { api } from '../events.mjs'
import { refused, refusedWith } from '../steps.mjs'

export default async function team(library) {
  const { client, name } = library
  const { userId } = await client.user.create({ clientUserId: `team-${name}-${Date.now()}` })
  const { teamId } = await client.user.get({ userId })
  await object(library, teamId)
  await physicians(library, teamId)
  await metrics(library, userId, teamId)
  await priorities(library)
}

async function object({ client }, teamId) {
  const one = await client.team.get({ teamId })
  assert.deepEqual([one.id, one.orgId], [teamId, teamId])
  assert.ok(one.name && one.delegatedFlow && one.configuration.libreview)
  const switches = [
    'testkitsTextsEnabled', 'labTestsPatientCommunicationEnabled', 'labTestsPatientSmsCommunicationEnabled', 'labTestsPatientEmailCommunicationEnabled',
  ]
  for (const word of switches) assert.equal(typeof one[word], 'boolean', word)
  for (const word of ['textsEnabled', 'pushHistoricalData', 'rejectDuplicateConnection', 'partialWebhooksEnabled', 'minorOrderingEnabled']) {
    assert.equal(typeof one.configuration[word], 'boolean', word)
  }
  for (const secret of ['apiKey', 'apiKeys', 'clientSecret', 'webhookSecret']) assert.equal(one[secret] ?? null, null, secret)
  await refusedWith(client.team.get({ teamId: '00000000-0000-4000-8000-000000000000' }), 404, /detail/)
}

async function physicians({ client }, teamId) {
  for (const { firstName, lastName, npi } of await client.team.getPhysicians({ teamId })) {
    assert.ok(firstName && lastName)
    assert.match(npi, /^\d{10}$/)
  }
}

async function metrics({ client }, userId, teamId) {
  const before = await client.user.getTeamMetrics()
  await client.link.connectDemoProvider({ userId, provider: 'oura' })
  const after = await client.user.getTeamMetrics()
  assert.equal(after.teamId, teamId)
  assert.deepEqual([after.numberOfUsers, after.numberOfErroredConnectedSources], [(await client.user.getAll()).total, 0])
  assert.equal(after.numberOfConnectedSources, before.numberOfConnectedSources + 1)
  assert.ok(after.numberOfOrderedTests >= 0)
  const week = after.numberOfConnectedSourcesByWeek.at(-1)
  assert.ok(week.date <= Date.now() && week.date > Date.now() - 8 * 86_400_000)
  assert.ok(week.value >= 1 && week.value <= week.all && week.all === after.numberOfConnectedSources)
}

const dataTypes = ['workouts', 'activity', 'sleep', 'body', 'timeseries']

// priorities sets the priorities without the libraries, because their method sends no
// rows and changes nothing.
async function priorities({ client }) {
  const rows = dataTypes.map((data_type, at) => ({ data_type, provider: 'oura', priority: at + 1 }))
  await api('PATCH', '/v2/team/source/priorities', rows)
  for (const row of rows) {
    assert.deepEqual(await client.team.getSourcePriorities({ dataType: row.data_type }), [row])
  }
  const all = await client.team.getSourcePriorities()
  assert.equal(all.length, rows.length)
  assert.deepEqual(await client.team.updateSourcePriorities(), all)
  await api('PATCH', '/v2/team/source/priorities', rows.map((row) => ({ ...row, priority: null })))
  assert.deepEqual(await client.team.getSourcePriorities(), [])
  await refused(client.team.getUserById({ queryId: 'x' }), 'UnprocessableEntityError', /query_id/)
}
