// Orders in each state that a sandbox can reach, the shipments of test kits, and their
// events.
import assert from 'node:assert/strict'
import { decodeEvent, labEventsOf } from '../events.mjs'
import { address, patient, testBy, until } from '../steps.mjs'

const states = {
  testkit: [
    'received.testkit.requisition_created', 'collecting_sample.testkit.transit_customer', 'collecting_sample.testkit.problem_in_transit_customer',
    'collecting_sample.testkit.out_for_delivery', 'collecting_sample.testkit.with_customer', 'collecting_sample.testkit.transit_lab',
    'collecting_sample.testkit.problem_in_transit_lab', 'sample_with_lab.testkit.delivered_to_lab', 'completed.testkit.completed',
    'failed.testkit.failure_to_deliver_to_customer', 'failed.testkit.failure_to_deliver_to_lab', 'failed.testkit.sample_error', 'failed.testkit.lost',
  ],
  walk_in_test: [
    'received.walk_in_test.requisition_created', 'sample_with_lab.walk_in_test.partial_results', 'failed.walk_in_test.sample_error',
  ],
  at_home_phlebotomy: ['received.at_home_phlebotomy.requisition_created'],
  on_site_collection: [
    'received.on_site_collection.requisition_created', 'sample_with_lab.on_site_collection.draw_completed',
    'sample_with_lab.on_site_collection.partial_results', 'completed.on_site_collection.completed', 'failed.on_site_collection.sample_error',
  ],
}

export default async function orderStates(library) {
  const { client, name } = library
  const { userId } = await client.user.create({ clientUserId: `states-${name}-${Date.now()}` })
  for (const [method, all] of Object.entries(states)) {
    const test = await testBy(client, method)
    await Promise.all(all.map((state) => brought(client, userId, test, state)))
  }
  await checkEvents(library, userId)
}

// brought moves a new order to a state.
async function brought(client, userId, test, finalStatus) {
  const { order } = await client.labTests.createOrder({
    userId, orderSet: { labTestIds: [test.id] }, patientDetails: patient('Moved'), patientAddress: address,
  })
  const orderId = order.id
  assert.equal(await client.labTests.simulateOrderProcess({ orderId, finalStatus }), 'Success')
  const there = ({ events }) => events.at(-1).status === finalStatus
  const { events, status, details } = await until(() => client.labTests.getOrder({ orderId }), there)
  assert.equal(status, finalStatus.split('.')[0])
  assert.ok(events.every(({ id, createdAt }) => id > 0 && createdAt instanceof Date))
  if (details.type === 'testkit') shipped(details.data.shipment, events)
}

// shipped asserts that a kit has the tracking of each of its shipments.
function shipped(shipment, events) {
  const went = (way) => events.some(({ status }) => status.endsWith(`.transit_${way}`))
  assert.equal(Boolean(shipment?.outboundTrackingNumber && shipment.outboundTrackingUrl && shipment.outboundCourier), went('customer'))
  assert.equal(Boolean(shipment?.inboundTrackingNumber && shipment.inboundTrackingUrl && shipment.inboundCourier), went('lab'))
}

async function checkEvents({ types }, userId) {
  const ours = await labEventsOf(userId)
  for (const event of ours) assert.ok(decodeEvent(types, event), event.event_type)
}
