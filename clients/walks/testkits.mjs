// Test kits of a known patient and test kits that are registered later, with each of
// their statuses.
import assert from 'node:assert/strict'
import { decodeEvent, eventsWhere } from '../events.mjs'
import { address, patient, refused, refusedWith, testBy, until } from '../steps.mjs'

export default async function testkits(library) {
  const { client, name } = library
  const { userId } = await client.user.create({ clientUserId: `kits-${name}-${Date.now()}` })
  const { userId: other } = await client.user.create({ clientUserId: `kits-other-${name}-${Date.now()}` })
  const test = await testBy(client, 'testkit')
  await sent(client, userId, test)
  await unregistered(client, userId, test)
  await registered(library, userId, other, test)
  await ways(library, userId, test)
  await refusals(client, userId, test)
  await eventsOf(library, userId, other)
}

const shipping = {
  receiverName: 'Ada Walker', firstLine: '1 Example Street', secondLine: 'Unit 2', city: 'Phoenix', state: 'AZ', zip: '85004', country: 'US',
  phoneNumber: '+14155550123',
}

const ordered = async (client, userId, test) => {
  const request = { userId, orderSet: { labTestIds: [test.id] }, patientDetails: patient('Kit'), patientAddress: address }
  return (await client.labTests.createOrder(request)).order
}

const short = ({ events }) => events.map(({ status }) => status.split('.').at(-1))

// walked moves a kit to a status and returns the order.
async function walked(client, orderId, finalStatus) {
  assert.equal(await client.labTests.simulateOrderProcess({ orderId, finalStatus, delay: 0 }), 'Success')
  return until(() => client.labTests.getOrder({ orderId }), ({ events }) => events.at(-1).status === finalStatus)
}

// sent tests a kit for a known patient.
async function sent(client, userId, test) {
  const order = await ordered(client, userId, test)
  assert.deepEqual([order.details.type, order.details.data.shipment ?? null], ['testkit', null])
  const onWay = await walked(client, order.id, 'collecting_sample.testkit.transit_customer')
  const first = onWay.details.data.shipment
  assert.ok(first.id && first.outboundTrackingNumber && first.outboundTrackingUrl && first.outboundCourier)
  const back = await walked(client, order.id, 'collecting_sample.testkit.transit_lab')
  const { shipment } = back.details.data
  assert.ok(shipment.inboundTrackingNumber && shipment.inboundTrackingUrl && shipment.inboundCourier)
  assert.deepEqual([shipment.id, shipment.outboundTrackingNumber], [first.id, first.outboundTrackingNumber])
  const done = await walked(client, order.id, 'completed.testkit.completed')
  assert.deepEqual(short(done), [
    'ordered', 'requisition_created', 'transit_customer', 'out_for_delivery', 'with_customer', 'transit_lab', 'delivered_to_lab', 'completed',
  ])
  assert.ok(done.details.data.createdAt <= done.details.data.updatedAt && done.sampleId)
}

async function unregistered(client, userId, test) {
  const { order, status, message } = await client.testkit.createOrder({
    userId, labTestId: test.id, shippingDetails: { ...shipping, secondLine: null }, passthrough: null, labAccountId: null,
  })
  assert.deepEqual([status, message.length > 0, order.passthrough ?? null], ['success', true, null])
  assert.deepEqual(short(order), ['ordered', 'awaiting_registration'])
  const cancelled = await client.labTests.cancelOrder({ orderId: order.id })
  assert.equal(cancelled.order.events.at(-1).status, 'cancelled.testkit.cancelled')
}

const physician = { firstName: 'Paula', lastName: 'Physician', email: 'paula@example.com', npi: '1234567893', licensedStates: ['AZ'] }

// registered tests a kit that is registered for another user than the one that ordered it.
async function registered({ client, name }, userId, other, test) {
  const { order } = await client.testkit.createOrder({ userId, labTestId: test.id, shippingDetails: shipping, passthrough: 'yours' })
  assert.deepEqual([order.userId, order.passthrough, order.patientDetails ?? null], [userId, 'yours', null])
  for (const [member, value] of Object.entries(shipping)) assert.equal(order.shippingDetails[member], value, member)
  assert.ok(order.sampleId)
  await walked(client, order.id, 'collecting_sample.testkit.with_customer')
  const details = patient('Registered', { race: 'asian', ethnicity: 'non_hispanic', genderIdentity: 'male', householdIncome: 50_000, householdSize: 1 })
  const request = {
    userId: other, sampleId: order.sampleId, patientDetails: details, patientAddress: { ...address, accessNotes: 'Ring twice' }, physician,
    healthInsurance: { diagnosisCodes: ['E11.9'], payorCode: null }, consents: [{ consentType: 'terms-of-use', version: '1.0', timeOfConsent: new Date() }],
  }
  const answer = await client.testkit.register(request)
  says(answer.order, request, order)
  if (name === 'junction') assert.equal(answer.order.patientAddress.accessNotes, 'Ring twice') // vital sends none
  await refusedWith(client.testkit.register(request), 400, /sample_id|cannot be registered/)
  const done = await walked(client, order.id, 'completed.testkit.completed')
  assert.deepEqual(short(done), [
    'ordered', 'awaiting_registration', 'transit_customer', 'out_for_delivery', 'with_customer', 'registered', 'requisition_created', 'transit_lab',
    'delivered_to_lab', 'completed',
  ])
}

function says(order, { userId, patientDetails, physician: { npi } }, before) {
  assert.deepEqual([order.id, order.userId, order.sampleId], [before.id, userId, before.sampleId])
  const { dob, householdIncome, householdSize, ...details } = patientDetails
  for (const [member, value] of Object.entries(details)) assert.equal(order.patientDetails[member], value, member)
  assert.equal(order.patientDetails.dob.toISOString().slice(0, 10), dob)
  assert.deepEqual([order.patientAddress.zip, order.patientAddress.receiverName], ['85004', 'Ada Walker'])
  assert.deepEqual([order.physician.npi, order.icdCodes, order.passthrough], [npi, ['E11.9'], 'yours'])
  assert.equal(order.events.at(-1).status, 'received.testkit.registered')
}

// ends lists the statuses of failed kits.
const ends = [
  'collecting_sample.testkit.problem_in_transit_customer', 'collecting_sample.testkit.problem_in_transit_lab',
  'failed.testkit.failure_to_deliver_to_customer', 'failed.testkit.failure_to_deliver_to_lab', 'failed.testkit.lost', 'failed.testkit.sample_error',
  'sample_with_lab.testkit.lab_processing_blocked', 'completed.testkit.corrected',
]

// known lists those of them that a library knows.
const known = (name) => ends.filter((end) => name !== 'vital' || !/corrected|blocked/.test(end))

async function ways({ client, name }, userId, test) {
  for (const end of known(name)) {
    const order = await walked(client, (await ordered(client, userId, test)).id, end)
    assert.equal(order.status, end.split('.')[0])
  }
  await client.labTests.cancelOrder({ orderId: (await ordered(client, userId, test)).id })
}

async function refusals(client, userId, test) {
  const request = { userId, labTestId: test.id, shippingDetails: shipping }
  await refused(client.testkit.createOrder({ ...request, labTestId: 'none' }), 'UnprocessableEntityError', /lab_test_id/)
  await refused(client.testkit.createOrder({ ...request, shippingDetails: { ...shipping, zip: '1' } }), 'UnprocessableEntityError', /zip/)
  await refusedWith(client.testkit.createOrder({ ...request, userId: test.id }), 404, /user/i)
  const registration = { sampleId: 'nothing', patientDetails: patient('Nobody'), patientAddress: address }
  await refusedWith(client.testkit.register(registration), 404, /sample|kit/i)
  await refused(client.testkit.register({ ...registration, patientDetails: patient('Nobody', { dob: 'then' }) }), 'UnprocessableEntityError', /dob/)
}

async function eventsOf({ types, name }, ...users) {
  const ours = await eventsWhere((event) => users.includes(event.user_id) && event.event_type.startsWith('labtest.order.'))
  const seen = ours.map((event) => decodeEvent(types, event))
  const statuses = new Set(seen.map(({ data }) => data.events.at(-1).status))
  for (const status of [...known(name), 'received.testkit.awaiting_registration', 'received.testkit.registered', 'cancelled.testkit.cancelled']) {
    assert.ok(statuses.has(status), status)
  }
  assert.ok(seen.some(({ data }) => data.details.data.shipment?.inboundTrackingNumber))
  assert.ok(seen.some(({ userId, data }) => userId === users[1] && data.userId === userId))
}
