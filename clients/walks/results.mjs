// Results in every kind and state, and the documents of an order.
import assert from 'node:assert/strict'
import { api, decodeEvent, labEventsOf } from '../events.mjs'
import { address, patient, pdf, testBy, until } from '../steps.mjs'

export default async function results(library) {
  const { client, name } = library
  const { userId } = await client.user.create({ clientUserId: `results-${name}-${Date.now()}` })
  const order = await waiting(client, userId)
  const critical = await walked(client, userId, { interpretation: 'critical', resultTypes: ['numeric', 'range', 'comment', 'coded_value'] })
  await read(client, critical)
  await head(client, critical)
  await transaction(client, critical)
  await partial(client, userId)
  await missing(client, userId)
  await corrected(client, critical.id)
  await unreported(client, order)
  await checkEvents(library, userId)
}

const physician = { firstName: 'Paula', lastName: 'Physician', npi: '1234567893', licensedStates: ['AZ'] }

async function ordered(client, userId) {
  const test = await testBy(client, 'walk_in_test')
  const people = { patientDetails: patient('Reported'), patientAddress: address, physician }
  return (await client.labTests.createOrder({ userId, orderSet: { labTestIds: [test.id] }, ...people })).order
}

// walked moves an order to its results and returns it.
async function walked(client, userId, body, finalStatus = 'completed.walk_in_test.completed') {
  const { id: orderId } = await ordered(client, userId)
  assert.equal(await client.labTests.simulateOrderProcess({ orderId, finalStatus, delay: 0, body }), 'Success')
  return until(() => client.labTests.getOrder({ orderId }), ({ events }) => events.at(-1).status === finalStatus)
}

const bounds = ['minRangeValue', 'maxRangeValue', 'isAboveMaxRange', 'isBelowMinRange']

async function read(client, order) {
  assert.deepEqual([order.interpretation, order.hasMissingResults, order.status], ['critical', false, 'completed'])
  assert.ok(order.expectedResultByDate <= order.worstCaseResultByDate && order.sampleId)
  const raw = await client.labTests.getResultRaw({ orderId: order.id })
  assert.deepEqual([...new Set(raw.results.map(({ type }) => type))].sort(), ['coded_value', 'comment', 'numeric', 'range'])
  const flag = (one) => one.sourceInterpretation ?? one.source_interpretation // vital does not know it
  assert.ok(raw.results.some((one) => one.interpretation === 'critical' && flag(one)))
  const samples = Object.keys(raw.sampleInformation)
  for (const one of raw.results) {
    assert.ok(one.name && one.slug && one.result && one.providerId && one.loinc && one.loincSlug && one.timestamp instanceof Date)
    assert.ok(order.labTest.markers.some(({ id }) => id === one.sourceMarkers[0].markerId))
    assert.ok(samples.includes(one.sourceSampleId))
    assert.ok(Object.keys(raw.sampleInformation[one.sourceSampleId].performingLaboratories).includes(one.performingLaboratory))
  }
  const numbers = raw.results.filter(({ type }) => type === 'numeric')
  assert.ok(numbers.some((one) => one.unit && one.referenceRange && bounds.every((member) => one[member] !== undefined)))
  await sampled(raw, samples[0])
}

async function sampled(raw, key) {
  const sample = raw.sampleInformation[key]
  for (const member of ['dateCollected', 'dateReceived', 'dateReported']) assert.ok(sample[member], member)
  const [laboratory] = Object.values(sample.performingLaboratories)
  assert.ok(laboratory.name && laboratory.address.zip)
  assert.ok(sample.sampleId && sample.controlNumber)
  assert.equal(sample.clinicalInformation.fasting, true)
}

async function head(client, order) {
  const orderId = order.id
  const metadata = await client.labTests.getResultMetadata({ orderId })
  assert.deepEqual([metadata.status, metadata.interpretation, metadata.dob], ['final', 'critical', '17/05/1984'])
  assert.match(metadata.patient, /Reported/)
  assert.match(metadata.provider, /Physician/)
  for (const member of ['age', 'clia', 'laboratory', 'dateReported', 'dateCollected', 'dateReceived', 'specimenNumber', 'patientId', 'accountId']) {
    assert.ok(metadata[member], member)
  }
  await pdf(await client.labTests.getResultPdf({ orderId }))
  await pdf(await client.labTests.getOrderRequistionPdf({ orderId }))
  await pdf(await client.labTests.getOrderCollectionInstructionPdf({ orderId }))
  const few = await pdf(await client.labTests.getLabelsPdf({ orderId, collectionDate: new Date() }))
  const many = await pdf(await client.labTests.getLabelsPdf({ orderId, collectionDate: new Date(), numberOfLabels: 9 }))
  assert.ok(many.length > few.length)
  await requisition(order)
}

async function requisition({ requisitionFormUrl }) {
  const answer = await fetch(requisitionFormUrl)
  await pdf(answer)
}

// transaction reads an order's transaction. Only junction has a method for it.
async function transaction(client, order) {
  if (client.orderTransaction === undefined) return
  const transactionId = order.orderTransaction.id
  const whole = await client.orderTransaction.getTransaction({ transactionId })
  const [one] = whole.orders
  assert.deepEqual([whole.id, whole.status, whole.teamId], [transactionId, 'completed', order.teamId])
  assert.deepEqual([one.id, one.lastStatus, one.origin, one.parentId], [order.id, 'completed', 'initial', null])
  const raw = await client.orderTransaction.getTransactionResult({ transactionId })
  assert.equal(raw.metadata.interpretation, 'critical')
  assert.equal(raw.orderTransaction.orders[0].lowLevelStatus, 'completed')
  await pdf(await client.orderTransaction.getTransactionResultPdf({ transactionId }))
}

async function partial(client, userId) {
  const order = await walked(client, userId, undefined, 'sample_with_lab.walk_in_test.partial_results')
  const { metadata, results } = await client.labTests.getResultRaw({ orderId: order.id })
  assert.equal(metadata.status, 'partial')
  assert.ok(results.length > 0)
}

async function missing(client, userId) {
  const order = await walked(client, userId, { interpretation: 'abnormal', hasMissingResults: true })
  assert.deepEqual([order.interpretation, order.hasMissingResults], ['abnormal', true])
  const { missingResults: [one] } = await client.labTests.getResultRaw({ orderId: order.id })
  assert.ok(one.name && one.slug && one.inferredFailureType && one.providerId && one.loinc && one.loincSlug && one.sourceMarkers.length > 0)
}

// corrected requests the correction without the library, because vital does not know the
// word.
async function corrected(client, orderId) {
  await api('POST', `/v3/order/${orderId}/test?final_status=completed.walk_in_test.corrected`)
  const { events } = await until(() => client.labTests.getOrder({ orderId }), ({ events }) => events.length > 3)
  assert.equal(events.at(-1).status, 'completed.walk_in_test.corrected')
}

// waiting tests an order without results that needs a notice.
async function waiting(client, userId) {
  const { receiverName, phoneNumber, ...home } = address
  const person = { ...patient('Insured'), address: home }
  await client.user.upsertUserInfo({ userId, ...person })
  await client.user.createInsurance({ userId, payorCode: 'MEDFED', memberId: 'member', relationship: 'Self', insured: person, isPrimary: true })
  const test = await testBy(client, 'walk_in_test')
  const { order } = await client.labTests.createOrder({
    userId, orderSet: { labTestIds: [test.id] }, billingType: 'commercial_insurance', icdCodes: ['J45.909'],
    patientDetails: patient('Insured'), patientAddress: address,
  })
  assert.ok(order.hasAbn && order.healthInsuranceId)
  return order
}

async function unreported(client, { id: orderId }) {
  await pdf(await client.labTests.getOrderAbnPdf({ orderId }))
  const none = ({ statusCode, body }) => statusCode === 404 && typeof body.detail === 'string'
  for (const read of ['getResultRaw', 'getResultMetadata', 'getResultPdf']) await assert.rejects(client.labTests[read]({ orderId }), none)
}

// checkEvents decodes and checks the events of the user's orders and results.
async function checkEvents({ types }, userId) {
  const ours = await labEventsOf(userId)
  const seen = new Set(ours.map((event) => event.event_type))
  assert.deepEqual([...seen].sort(), ['labtest.order.created', 'labtest.order.updated', 'labtest.result.critical'])
  for (const event of ours) decodeEvent(types, event)
}
