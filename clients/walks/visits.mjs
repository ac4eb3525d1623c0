// Orders whose sample a phlebotomist draws at home, and their visits.
import assert from 'node:assert/strict'
import { api, decodeEvent, eventsWhere } from '../events.mjs'
import { address, patient, refused, refusedWith, testBy, until } from '../steps.mjs'

export default async function visits(library) {
  const { client, name } = library
  const { userId } = await client.user.create({ clientUserId: `visits-${name}-${Date.now()}` })
  const first = await awaitingVisit(client, userId)
  const slots = await free(client)
  await refusals(library, first, slots)
  await booked(library, first, slots)
  await cancelled(client, first, userId)
  await requested(library, userId)
  await held(client, userId)
  await eventsOf(library, userId)
}

const home = { firstLine: '1 Example Street', secondLine: 'Unit 2', city: 'Phoenix', state: 'AZ', zipCode: '85004', accessNotes: 'Ring twice' }

async function ordered(client, userId) {
  const test = await testBy(client, 'at_home_phlebotomy')
  const { order } = await client.labTests.createOrder({
    userId, orderSet: { labTestIds: [test.id] }, patientDetails: patient('Visited'), patientAddress: address,
  })
  assert.deepEqual([order.details.type, order.details.data.appointmentId ?? null], ['at_home_phlebotomy', null])
  return order.id
}

const reached = (client, orderId, status) =>
  until(() => client.labTests.getOrder({ orderId }), ({ events }) => events.at(-1).status === status)

const visitAt = (client, orderId, status) =>
  until(() => client.labTests.getPhlebotomyAppointment({ orderId }), ({ eventStatus }) => eventStatus === status)

async function awaitingVisit(client, userId) {
  const orderId = await ordered(client, userId)
  const finalStatus = 'received.at_home_phlebotomy.requisition_created'
  await client.labTests.simulateOrderProcess({ orderId, finalStatus })
  await reached(client, orderId, finalStatus)
  return orderId
}

const day = (days) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10)

// free lists the free times of 14 days. It returns those of two days that are more than
// a day away.
async function free(client) {
  const { slots, timezone } = await client.labTests.getPhlebotomyAppointmentAvailability({ body: { ...home, secondLine: null, unit: '2' } })
  assert.equal(timezone, 'America/Phoenix')
  const third = day(3)
  const found = await client.labTests.getPhlebotomyAppointmentAvailability({ startDate: third, body: home })
  assert.equal(found.slots[0].date, third)
  assert.ok(slots[0].date < found.slots[0].date && found.slots.length === 14)
  for (const { location, slots } of found.slots) {
    assert.equal(location ?? null, null)
    for (const one of slots) readable(one)
  }
  return found.slots
}

function readable(slot) {
  assert.ok(slot.start instanceof Date && slot.start < slot.end && slot.expiresAt > Date.now() && slot.bookingKey)
  assert.deepEqual([slot.price, typeof slot.isPriority], [3500, 'boolean'])
  assert.ok(slot.numAppointmentsAvailable > 0)
}

// booked books a visit and moves it.
async function booked({ client, name }, orderId, [, one, two]) {
  const slot = one.slots.at(-1)
  const body = { bookingKey: slot.bookingKey, appointmentNotes: 'Dog in the yard', asyncConfirmation: false }
  const made = await client.labTests.bookPhlebotomyAppointment({ orderId, body })
  says(made, { orderId, slot, notes: 'Dog in the yard', name })
  assert.deepEqual(made.events.map(({ status }) => status), ['pending', 'scheduled'])
  assert.deepEqual(await client.labTests.getPhlebotomyAppointment({ orderId }), made)
  const order = await reached(client, orderId, 'collecting_sample.at_home_phlebotomy.appointment_scheduled')
  assert.equal(order.details.data.appointmentId, made.id)
  const later = two.slots.at(-1)
  const moved = await client.labTests.reschedulePhlebotomyAppointment({
    orderId, body: { bookingKey: later.bookingKey, appointmentNotes: 'The dog is away' },
  })
  says(moved, { orderId, slot: later, notes: 'The dog is away', name })
  assert.equal(moved.id, made.id)
  assert.deepEqual(moved.eventData, { origin: 'patient', is_reschedule: true })
  assert.deepEqual(moved.events.at(-1).data, moved.eventData)
}

function says(visit, { orderId, slot, notes, name }) {
  assert.deepEqual([visit.orderId, visit.type, visit.provider], [orderId, 'phlebotomy', 'getlabs'])
  assert.deepEqual([visit.status, visit.eventStatus, visit.canReschedule], ['confirmed', 'scheduled', true])
  assert.deepEqual([visit.startAt, visit.endAt, visit.ianaTimezone], [slot.start, slot.end, 'America/Phoenix'])
  agree(name, visit, notes, home)
  assert.ok(Math.abs(visit.location.lat - 33.45) < 0.5 && Math.abs(visit.location.lng + 112.07) < 0.5)
  assert.ok(visit.id && visit.userId && visit.providerId && visit.externalId && (name === 'vital' || visit.orderTransactionId))
}

// agree asserts that a visit has the fields of its request. Vital's library does not know
// notes, and sends none.
function agree(name, visit, notes, address) {
  const { accessNotes, ...rest } = address
  for (const [member, value] of Object.entries(rest)) assert.equal(visit.address[member] ?? null, value, member)
  if (name === 'vital') return
  assert.deepEqual([visit.appointmentNotes, visit.address.accessNotes], [notes, accessNotes])
}

// cancelled cancels the visit, books another one, and completes it.
async function cancelled(client, orderId, userId) {
  const reasons = await client.labTests.getPhlebotomyAppointmentCancellationReason()
  assert.ok(reasons.length > 10 && reasons.every(({ id, name, isRefundable }) => id && name && isRefundable === true))
  const other = reasons.find(({ name }) => name === 'Other')
  await refused(client.labTests.cancelPhlebotomyAppointment({ orderId, cancellationReasonId: other.id, notes: null }), 'UnprocessableEntityError', /notes/)
  await refused(client.labTests.cancelPhlebotomyAppointment({ orderId, cancellationReasonId: 'none' }), 'UnprocessableEntityError', /cancellation_reason_id/)
  await refusedWith(client.labTests.cancelPhlebotomyAppointment({ orderId, cancellationReasonId: userId }), 400, /cancellation_reason_id/)
  const ended = await client.labTests.cancelPhlebotomyAppointment({ orderId, cancellationReasonId: other.id, notes: 'Moved away' })
  assert.deepEqual([ended.status, ended.eventStatus, ended.canReschedule], ['cancelled', 'cancelled', false])
  assert.deepEqual(ended.eventData, { origin: 'patient', cancellation_reason: 'Other', is_refundable: true })
  await reached(client, orderId, 'collecting_sample.at_home_phlebotomy.appointment_cancelled')
  const slots = (await client.labTests.getPhlebotomyAppointmentAvailability({ startDate: day(4), body: home })).slots
  const again = await client.labTests.bookPhlebotomyAppointment({ orderId, body: { bookingKey: slots[1].slots.at(-1).bookingKey } })
  assert.deepEqual([again.appointmentNotes ?? null, again.id === ended.id], [null, false])
  await made(client, orderId)
}

// made completes a visit, and lets the lab report.
async function made(client, orderId) {
  const finalStatus = 'completed.at_home_phlebotomy.completed'
  await client.labTests.simulateOrderProcess({ orderId, finalStatus })
  const order = await reached(client, orderId, finalStatus)
  const visit = await visitAt(client, orderId, 'completed')
  assert.deepEqual(visit.events.map(({ status }) => status), ['pending', 'scheduled', 'in_progress', 'completed'])
  assert.deepEqual([visit.status, visit.canReschedule, order.details.data.appointmentId], ['completed', false, visit.id])
  assert.ok(order.events.some(({ status }) => status === 'collecting_sample.at_home_phlebotomy.draw_completed'))
  const reason = (await client.labTests.getPhlebotomyAppointmentCancellationReason())[0].id
  await refusedWith(client.labTests.cancelPhlebotomyAppointment({ orderId, cancellationReasonId: reason }), 400, /cannot be cancelled/)
}

// requested requests a visit without a time, which is set later.
async function requested({ client, name }, userId) {
  const orderId = await awaitingVisit(client, userId)
  const farm = { firstLine: '1 Farm Road', secondLine: null, city: 'Onalaska', state: 'WI', zipCode: '54650', accessNotes: 'By the barn', unit: null }
  const visit = await client.labTests.requestPhlebotomyAppointment({ orderId, address: farm, provider: 'phlebfinders', appointmentNotes: 'After noon' })
  assert.deepEqual([visit.status, visit.eventStatus, visit.startAt ?? null, visit.endAt ?? null], ['pending', 'pending', null, null])
  assert.deepEqual([visit.provider, visit.ianaTimezone], ['phlebfinders', 'America/Chicago'])
  agree(name, visit, 'After noon', farm)
  await reached(client, orderId, 'collecting_sample.at_home_phlebotomy.appointment_pending')
  await made(client, orderId)
}

// held books a visit of an order without a requisition.
async function held(client, userId) {
  await api('PATCH', '/v2/team/appointment_settings', { booking_before_requisition_enabled: true })
  const orderId = await ordered(client, userId)
  const { slots } = await client.labTests.getPhlebotomyAppointmentAvailability({ startDate: day(9), body: home })
  const visit = await client.labTests.bookPhlebotomyAppointment({ orderId, body: { bookingKey: slots[0].slots.at(-1).bookingKey } })
  await api('PATCH', '/v2/team/appointment_settings', { booking_before_requisition_enabled: false })
  assert.deepEqual([visit.status, visit.eventStatus], ['reserved', 'reserved'])
  await client.labTests.simulateOrderProcess({ orderId, finalStatus: 'received.at_home_phlebotomy.requisition_created' })
  const sure = await visitAt(client, orderId, 'scheduled')
  assert.deepEqual(sure.events.map(({ status }) => status), ['pending', 'reserved', 'scheduled'])
  await client.labTests.cancelOrder({ orderId })
  const ended = await visitAt(client, orderId, 'cancelled')
  assert.equal(ended.eventData.origin, 'order')
}

// refusals tests refused requests for a new order, for one that waits for its visit, and
// for one with another collection method.
async function refusals({ client, name }, waiting, [, , , , later]) {
  const { userId } = await client.user.create({ clientUserId: `unvisited-${Date.now()}` })
  const orderId = await ordered(client, userId)
  const { bookingKey } = later.slots[0]
  await refusedWith(client.labTests.getPhlebotomyAppointment({ orderId }), 404, /Appointment/)
  await refusedWith(client.labTests.bookPhlebotomyAppointment({ orderId, body: { bookingKey } }), 400, /requisition/)
  await refusedWith(client.labTests.bookPhlebotomyAppointment({ orderId: waiting, body: { bookingKey: 'none' } }), 400, /key/)
  const long = { bookingKey, appointmentNotes: 'x'.repeat(1001) }
  if (name === 'junction') await refused(client.labTests.bookPhlebotomyAppointment({ orderId: waiting, body: long }), 'UnprocessableEntityError', /appointment_notes/)
  await refusedWith(client.labTests.getPhlebotomyAppointmentAvailability({ body: { ...home, city: 'Ketchikan', state: 'AK', zipCode: '99950' } }), 404, /99950|zip/i)
  await refused(client.labTests.getPhlebotomyAppointmentAvailability({ startDate: 'soon', body: home }), 'UnprocessableEntityError', /start_date/)
  await refusedWith(client.labTests.getPscAppointment({ orderId }), 404, /walk_in/)
}

async function eventsOf(library, userId) {
  const seen = await until(() => appointmentEvents(library, userId), (all) => all.some(({ data }) => data.eventStatus === 'cancelled' && data.eventData.origin === 'order'))
  for (const { eventType, data } of seen) {
    assert.equal(eventType, data.events.length === 1 ? 'labtest.appointment.created' : 'labtest.appointment.updated')
    assert.equal(data.events.at(-1).status, data.eventStatus)
  }
  const statuses = new Set(seen.map(({ data }) => data.status))
  assert.deepEqual([...statuses].sort(), ['cancelled', 'completed', 'confirmed', 'in_progress', 'pending', 'reserved'])
}

// appointmentEvents reads the events of a user's appointments with the library.
async function appointmentEvents({ types }, userId) {
  const ours = await eventsWhere((event) => event.user_id === userId && event.event_type.startsWith('labtest.appointment.'))
  return ours.map((event) => decodeEvent(types, event))
}
