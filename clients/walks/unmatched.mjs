// Results that fit no order: each case is created, read and decided.
import assert from 'node:assert/strict'
import { decodeEvent, eventsWhere } from '../events.mjs'
import { address, patient, refused, testBy, until } from '../steps.mjs'

export default async function unmatched(library) {
  const { client, name } = library
  if (client.labTests.listUnmatchedResults === undefined) return // vital is older than they are
  const { data: cases } = await client.labTests.listUnmatchedResultTestCases()
  assert.equal(cases.length, 8)
  for (const { orderRoles, labConstraints, requiredStatuses } of cases) assert.ok(orderRoles && labConstraints && requiredStatuses)
  const ofItself = cases.filter((one) => one.case !== 'wrong_collection') // which needs an order of a visit to come
  const runs = await Promise.all([...ofItself.map((definition) => managed(client, name, definition)), uncollected(client, name)])
  const items = Object.fromEntries(await Promise.all(runs.map((run) => item(client, run))))
  await candidates(items, runs)
  await list(client, items)
  await decide(client, items, runs)
  await provided(client, name)
  await refusals(client, items)
  await checkEvents(library, items)
}

const start = (client, idempotencyKey, request) => client.labTests.createUnmatchedResultTest({ idempotencyKey, ...request })

async function ended(client, runId) {
  const run = await until(() => client.labTests.getUnmatchedResultTest({ runId }), ({ status }) => ['succeeded', 'failed'].includes(status))
  assert.equal(run.error, null)
  assert.deepEqual([run.status, run.stage], ['succeeded', 'succeeded'])
  return run
}

// managed lets the sandbox create each case with orders of its own.
async function managed(client, name, { case: kind, orderRoles }) {
  const key = `managed-${name}-${kind}-${Date.now()}`
  const request = { case: kind, orderSource: 'managed', orders: null, resultStatus: 'final', interpretation: 'abnormal', labTestId: null, wrongLabTestId: null }
  const { runId, status } = await start(client, key, request)
  assert.equal(status, 'queued')
  assert.equal((await start(client, key, request)).runId, runId)
  const run = await ended(client, runId)
  assert.deepEqual([run.case, run.orderSource, run.resultStatus], [kind, 'managed', 'final'])
  assert.deepEqual(Object.keys(run.orders).sort(), orderRoles.toSorted())
  for (const { orderId, userId, orderTransactionId } of Object.values(run.orders)) assert.ok(orderId && userId && orderTransactionId)
  assert.ok(run.startedAt <= run.completedAt && run.createdAt <= run.updatedAt)
  return run
}

async function item(client, { case: kind, rawResultId }) {
  const one = await client.labTests.getUnmatchedResult({ rawResultId })
  assert.deepEqual([one.id, one.status, one.decisionCode], [rawResultId, 'pending_customer_review', kind])
  assert.ok(one.reason && one.lab.id && one.lab.slug && one.lab.name)
  assert.ok(one.patient.firstName && one.patient.lastName && one.patient.dob instanceof Date && one.patient.gender)
  assert.ok(one.markers[0].providerId && one.markers[0].name)
  assert.deepEqual([one.interpretation, one.resultStatus], ['abnormal', 'final'])
  assert.ok(one.allowedActions.includes('reject'))
  return [kind, one]
}

async function candidates(items, runs) {
  for (const { case: kind, orders } of runs) {
    const found = items[kind].candidateGroups.flatMap(({ candidates }) => candidates)
    if (kind === 'no_match') {
      assert.deepEqual(found, [])
      continue
    }
    assert.ok(found.some(({ orderId }) => Object.values(orders).some((order) => order.orderId === orderId)), kind)
    for (const one of found) {
      assert.ok(one.orderTransactionId && one.lastStatus && one.confidenceLevel && one.confidenceScore > 0 && one.reasons.length > 0)
      assert.ok(one.markerOverlap && one.statusContext, kind)
    }
  }
}

async function list(client, items) {
  const { data, total, nextCursor } = await client.labTests.listUnmatchedResults({ limit: 1 })
  assert.ok(data.length === 1 && total >= 8 && nextCursor)
  const second = await client.labTests.listUnmatchedResults({ limit: 1, nextCursor, searchInput: null })
  assert.notEqual(second.data[0].id, data[0].id)
  const { id, patient: { lastName }, lab } = items.wrong_lab
  const today = new Date().toISOString().slice(0, 10)
  const found = await client.labTests.listUnmatchedResults({
    limit: 100, decisionCode: 'wrong_lab', labSlug: lab.slug, status: 'pending_customer_review', createdAtStart: today, createdAtEnd: today, searchInput: lastName,
  })
  assert.ok(found.data.some((one) => one.id === id))
  assert.ok(found.data.every((one) => one.decisionCode === 'wrong_lab'))
}

// decide accepts results in each way, rejects one, and leaves one to the operators.
async function decide(client, items, runs) {
  const byDefault = await client.labTests.acceptUnmatchedResult({ rawResultId: items.match_demo.id, userId: null, orderId: null, note: 'clear' })
  assert.equal(byDefault.status, 'completed')
  const { orders } = runs.find((run) => run.case === 'match_cancelled')
  const [{ orderId, userId }] = Object.values(orders)
  const again = await client.labTests.acceptUnmatchedResult({ rawResultId: items.match_cancelled.id, userId, orderId })
  assert.deepEqual([again.origin, again.userId], ['recreation', userId])
  assert.equal(again.orderTransaction.orders.find(({ id }) => id === again.id).parentId, orderId)
  const rejected = await client.labTests.resolveUnmatchedResult({ rawResultId: items.no_match.id, action: 'reject', note: 'nobody' })
  assert.deepEqual([rejected.status, rejected.resolutionAction, rejected.note, rejected.allowedActions], ['resolved', 'reject', 'nobody', []])
  assert.ok(rejected.reviewedAt instanceof Date)
  const unsure = await client.labTests.resolveUnmatchedResult({ rawResultId: items.wrong_lab.id, action: 'unsure', note: null })
  assert.deepEqual([unsure.status, unsure.resolutionAction], ['pending_ops_review', 'unsure'])
  const accepted = await client.labTests.getUnmatchedResult({ rawResultId: items.match_demo.id })
  assert.deepEqual([accepted.status, accepted.resolvedOrderId, accepted.resolvedUserId], ['resolved', byDefault.id, byDefault.userId])
  const { data } = await client.labTests.listUnmatchedResults({ status: 'resolved', limit: 100 })
  assert.ok(data.some(({ id }) => id === items.no_match.id))
}

async function ordered(client, lastName, method) {
  const { userId } = await client.user.create({ clientUserId: `unmatched-${method}-${Date.now()}` })
  const test = await testBy(client, method)
  const people = { patientDetails: patient(lastName), patientAddress: address }
  return (await client.labTests.createOrder({ userId, orderSet: { labTestIds: [test.id] }, ...people })).order
}

// uncollected adds a result for an existing order whose visit is in the future.
async function uncollected(client, name) {
  const { id: orderId } = await ordered(client, `Uncollected ${name}`, 'at_home_phlebotomy')
  const finalStatus = 'received.at_home_phlebotomy.requisition_created'
  await client.labTests.simulateOrderProcess({ orderId, finalStatus })
  await until(() => client.labTests.getOrder({ orderId }), ({ lastEvent }) => lastEvent.status === finalStatus)
  const request = { case: 'wrong_collection', orderSource: 'provided', orders: { order: orderId }, interpretation: 'abnormal' }
  return ended(client, (await start(client, `provided-${orderId}`, request)).runId)
}

// provided adds a result for an existing order that was cancelled.
async function provided(client, name) {
  const { id: orderId } = await ordered(client, `Provided ${name}`, 'walk_in_test')
  await client.labTests.cancelOrder({ orderId })
  const request = { case: 'match_cancelled', orderSource: 'provided', orders: { order: orderId }, resultStatus: 'partial', interpretation: 'critical' }
  const { runId } = await start(client, `provided-${orderId}`, request)
  const run = await ended(client, runId)
  assert.equal(run.orders.order.orderId, orderId)
  const one = await client.labTests.getUnmatchedResult({ rawResultId: run.rawResultId })
  assert.deepEqual([one.resultStatus, one.interpretation], ['partial', 'critical'])
}

async function refusals(client, items) {
  const rawResultId = items.no_match.id
  await assert.rejects(client.labTests.resolveUnmatchedResult({ rawResultId, action: 'reject' }), ({ statusCode }) => statusCode === 404)
  await refused(client.labTests.acceptUnmatchedResult({ rawResultId: items.multiple_demo_match.id }), 'UnprocessableEntityError', /./)
  await refused(client.labTests.listUnmatchedResults({ createdAtStart: 'soon' }), 'UnprocessableEntityError', /created_at_start/)
}

// checkEvents decodes and checks the events of the results.
async function checkEvents({ types }, items) {
  const ids = Object.values(items).map(({ id }) => id)
  const ours = await eventsWhere(({ event_type: type, data }) => type.startsWith('labtest.match_review.') && ids.includes(data.id))
  assert.equal(ours.length, 8 + 4)
  for (const event of ours) {
    const { data } = decodeEvent(types, event)
    if (event.event_type.endsWith('updated')) assert.ok(data.resolutionAction, data.status)
  }
}
