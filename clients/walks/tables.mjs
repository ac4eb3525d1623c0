// Continuous queries: their result tables, their runs and their events.
import assert from 'node:assert/strict'
import { api, decodeEvent, eventsOf } from '../events.mjs'
import { refused, until } from '../steps.mjs'

export default async function tables(library) {
  const { client, name } = library
  const { userId } = await client.user.create({ clientUserId: `tables-${name}-${Date.now()}` })
  const { teamId } = await client.user.get({ userId })
  const data = [1, 2].map((day) => ({ timestamp: `2026-03-0${day}T10:00:00Z`, value: 60 + day, source_type: 'watch' }))
  const beat = (some) => api('POST', `/v2/timeseries/${userId}/heartrate`, { stage: 'daily', provider: 'apple_health_kit', data: some })
  const slug = `beats-of-${name}`
  const path = `/v1/org/${teamId}/team/${teamId}/sandbox/continuous_query`
  const { id } = await api('POST', path, { slug, title: 'Beats', query })
  try {
    await beat(data)
    await result(library, userId, [id, slug])
    await runs(library, userId, id, beat)
    await checkEvents(library, userId, id, slug)
    await refused(client.aggregate.getTaskHistoryForContinuousQuery({ userId, queryIdOrSlug: id, limit: 0 }), 'UnprocessableEntityError', /limit/)
    await assert.rejects(client.aggregate.getResultTableForContinuousQuery({ userId, queryIdOrSlug: 'none' }), ({ statusCode }) => statusCode === 404)
  } finally {
    await api('DELETE', `${path}/${id}`) // every push of the team looks at it
  }
}

const query = {
  select: [{ group_key: '*' }, { func: 'max', arg: { timeseries: 'heartrate', field: 'value' } }],
  group_by: [{ date_trunc: { unit: 'day' }, arg: { index: 'timeseries' } }],
}

const days = ['2026-03-01T00:00:00', '2026-03-02T00:00:00']

async function result({ client }, userId, names) {
  for (const queryIdOrSlug of names) {
    const read = () => client.aggregate.getResultTableForContinuousQuery({ userId, queryIdOrSlug })
    const { table } = await until(read, ({ table }) => table['group_key.0']?.length === 2)
    assert.deepEqual(table, { 'group_key.0': days, 'max.value': [61, 62] })
  }
}

// runs reads the runs one by one, newest first.
async function runs({ client }, userId, id, beat) {
  const ask = (more) => client.aggregate.getTaskHistoryForContinuousQuery({ userId, queryIdOrSlug: id, ...more })
  await until(ask, ({ data }) => data.length > 0 && data.every(({ status }) => status === 'completed'))
  await beat([{ timestamp: '2026-03-02T11:00:00Z', value: 99, source_type: 'watch' }])
  const { data } = await until(() => ask({ nextCursor: null }), ({ data }) => data.length > 1 && data.every(({ status }) => status === 'completed'))
  for (const run of data) {
    assert.deepEqual([run.queryId, run.userId, run.errorDetails ?? null], [id, userId, null])
    assert.ok(run.scheduledAt <= run.startedAt && run.startedAt <= run.endedAt)
  }
  const first = await ask({ limit: 1 })
  assert.deepEqual(first.data, data.slice(0, 1))
  assert.deepEqual((await ask({ limit: 1, nextCursor: first.nextCursor })).data, data.slice(1, 2))
}

async function checkEvents({ types }, userId, id, slug) {
  const events = (await eventsOf(userId, 'continuous_query.result_table.changed')).map((event) => decodeEvent(types, event))
  for (const { data: [changes] } of events) assert.deepEqual([changes.queryId, changes.querySlug], [id, slug])
  assert.deepEqual(events.at(-1).data[0].data, { 'group_key.0': days.slice(1), 'max.value': [99] })
}
