// Appointments at service centers of orders whose patients walk in.
import assert from 'node:assert/strict'
import { api, decodeEvent, eventsWhere } from '../events.mjs'
import { address, patient, refused, refusedWith, testBy, until } from '../steps.mjs'

export default async function centers(library) {
  const { client, name } = library
  const { userId } = await client.user.create({ clientUserId: `centers-${name}-${Date.now()}` })
  const orderId = await awaitingDraw(client, userId)
  const slots = await free(client)
  await refusals(library, orderId)
  await booked(library, orderId, slots)
  await cancelled(client, orderId, userId)
  await drawn(library, userId)
  await inBackground(library, userId)
  await arizona(library, userId)
  await eventsOf(library, userId)
}

const settings = (changed) => api('PATCH', '/v2/team/appointment_settings', changed)

async function ordered(client, userId, lab = 'quest') {
  const test = await labTest(client, lab)
  const { order } = await client.labTests.createOrder({
    userId, orderSet: { labTestIds: [test.id] }, patientDetails: patient('Drawn'), patientAddress: address,
  })
  return order.id
}

async function labTest(client, lab) {
  if (lab === 'quest') return testBy(client, 'walk_in_test')
  const [{ id: labId }] = (await client.labTests.getLabs()).filter(({ slug }) => slug === lab)
  const { markers } = await client.labTests.getMarkers({ labId, page: 1, size: 1 })
  const test = { name: `Draw of ${lab}`, description: '', method: 'walk_in_test', providerIds: [markers[0].providerId], labSlug: lab }
  const { id } = await api('POST', '/v3/lab_tests', { ...test, provider_ids: test.providerIds, lab_slug: lab })
  return client.labTests.updateLabTest({ labTestId: id, active: true })
}

const reached = (client, orderId, status) =>
  until(() => client.labTests.getOrder({ orderId }), ({ events }) => events.at(-1).status === status)

const visitAt = (client, orderId, status) =>
  until(() => client.labTests.getPscAppointment({ orderId }), ({ eventStatus }) => eventStatus === status)

async function awaitingDraw(client, userId, lab) {
  const orderId = await ordered(client, userId, lab)
  const finalStatus = 'received.walk_in_test.requisition_created'
  await client.labTests.simulateOrderProcess({ orderId, finalStatus })
  await reached(client, orderId, finalStatus)
  return orderId
}

const day = (days) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10)

// free lists free times with each filter, and returns those of one center from the third
// day on.
async function free(client) {
  const near = await client.labTests.getPscAppointmentAvailability({ lab: 'quest', zipCode: '85004', radius: '50', startDate: day(3), allowStale: false })
  assert.equal(near.timezone ?? null, null)
  const soonest = await client.labTests.getPscAppointmentAvailability({ lab: 'quest', zipCode: '85004', radius: '50', startDate: null, siteCodes: null, allowStale: null })
  assert.ok(soonest.slots[0].date < near.slots[0].date)
  assert.ok(near.slots.every(({ location }) => location.distance <= 50))
  assert.ok(near.slots.some(({ slots }) => slots.length > 0)) // a closed center has none
  const codes = [...new Set(near.slots.map(({ location }) => location.code))].slice(0, 3)
  assert.equal(codes.length, 3)
  for (const siteCodes of [codes, codes[0]]) {
    const third = day(3)
    const { slots } = await client.labTests.getPscAppointmentAvailability({ lab: 'quest', siteCodes, startDate: third, allowStale: true })
    assert.deepEqual([...new Set(slots.map(({ location }) => location.code))].sort(), [siteCodes].flat().sort())
    for (const one of slots) readable(one)
    assert.equal(slots[0].date, third)
    if (siteCodes === codes[0]) return slots.filter((one) => one.slots.length > 0)
  }
}

function readable({ location, slots }) {
  assert.ok(location.name && location.address.firstLine && location.address.city && location.address.zipCode)
  assert.deepEqual([location.distance ?? null, location.ianaTimezone, location.address.state], [null, 'America/New_York', 'AZ'])
  assert.ok(Math.abs(location.location.lat - 33.45) < 1)
  for (const slot of slots) {
    assert.ok(slot.start < slot.end && slot.expiresAt > Date.now() && slot.bookingKey && slot.numAppointmentsAvailable > 0)
    assert.deepEqual([slot.price, slot.isPriority], [0, false])
  }
}

// booked books an appointment, twice under one key where the library has keys,
// and moves it.
async function booked({ client, name }, orderId, [one, two]) {
  const slot = one.slots[0]
  const request = {
    orderId, idempotencyKey: `center-${orderId}`, idempotencyError: 'no-cache',
    body: { bookingKey: slot.bookingKey, appointmentNotes: 'Comes by bus', asyncConfirmation: false, syncConfirmationTimeoutMillisecond: null },
  }
  const made = await client.labTests.bookPscAppointment(request)
  says(made, { orderId, slot, location: one.location })
  if (name === 'junction') {
    assert.equal(made.appointmentNotes, 'Comes by bus')
    assert.deepEqual(await client.labTests.bookPscAppointment(request), made)
  } else {
    await refusedWith(client.labTests.bookPscAppointment(request), 400, /key|appointment/)
  }
  assert.deepEqual(await client.labTests.getPscAppointment({ orderId }), made)
  const order = await reached(client, orderId, 'collecting_sample.walk_in_test.appointment_scheduled')
  assert.equal(order.details.data.appointmentId, made.id)
  const moved = await client.labTests.reschedulePscAppointment({ orderId, body: { bookingKey: two.slots.at(-1).bookingKey, appointmentNotes: null } })
  says(moved, { orderId, slot: two.slots.at(-1), location: two.location })
  assert.deepEqual([moved.id, moved.appointmentNotes, moved.eventData.is_reschedule], [made.id, made.appointmentNotes, true])
}

function says(visit, { orderId, slot, location }) {
  assert.deepEqual([visit.orderId, visit.type, visit.provider], [orderId, 'patient_service_center', 'quest'])
  assert.deepEqual([visit.status, visit.eventStatus, visit.canReschedule], ['confirmed', 'scheduled', true])
  assert.deepEqual([visit.startAt, visit.endAt, visit.ianaTimezone], [slot.start, slot.end, location.ianaTimezone])
  assert.deepEqual([visit.address, visit.location], [location.address, location.location])
  assert.ok(visit.providerId && visit.externalId)
}

async function cancelled(client, orderId, userId) {
  const [other] = await client.labTests.getPscAppointmentCancellationReason()
  assert.deepEqual([other.name, other.isRefundable], ['Other', true])
  await refused(client.labTests.cancelPscAppointment({ orderId, cancellationReasonId: 'none' }), 'UnprocessableEntityError', /cancellationReasonId/)
  await refusedWith(client.labTests.cancelPscAppointment({ orderId, cancellationReasonId: userId }), 400, /cancellationReasonId/)
  const ended = await client.labTests.cancelPscAppointment({ orderId, cancellationReasonId: other.id, note: 'Ill' })
  assert.deepEqual([ended.status, ended.eventStatus, ended.canReschedule], ['cancelled', 'cancelled', false])
  assert.deepEqual(ended.eventData, { origin: 'patient', cancellation_reason: 'Other' })
  await reached(client, orderId, 'collecting_sample.walk_in_test.appointment_cancelled')
  const again = await client.labTests.cancelPscAppointment({ orderId, cancellationReasonId: other.id, note: null })
  assert.deepEqual(again, ended)
}

const book = async (client, orderId, more, lab = 'quest') => {
  const { slots } = await client.labTests.getPscAppointmentAvailability({ lab, zipCode: '85004', radius: '25', startDate: day(5) })
  return client.labTests.bookPscAppointment({ orderId, body: { bookingKey: slots.find((one) => one.slots.length > 0).slots.at(-1).bookingKey, ...more } })
}

// drawn books an appointment before the requisition exists, and completes it.
async function drawn({ client }, userId) {
  await settings({ booking_before_requisition_enabled: true })
  const orderId = await ordered(client, userId)
  const held = await book(client, orderId)
  await settings({ booking_before_requisition_enabled: false })
  assert.deepEqual([held.status, held.eventStatus], ['reserved', 'reserved'])
  const finalStatus = 'completed.walk_in_test.completed'
  await client.labTests.simulateOrderProcess({ orderId, finalStatus })
  await reached(client, orderId, finalStatus)
  const kept = await visitAt(client, orderId, 'completed')
  assert.deepEqual([kept.status, kept.canReschedule, kept.eventData.origin], ['completed', false, 'lab'])
}

// inBackground books with async_confirmation.
async function inBackground({ client, name }, userId) {
  const more = { asyncConfirmation: true, syncConfirmationTimeoutMillisecond: 1000, asyncConfirmationTimeoutMillisecond: 60_000 }
  const orderId = await awaitingDraw(client, userId)
  if (name === 'junction') await refusedWith(book(client, orderId, more), 400, /async_confirmation/)
  await settings({ async_confirmation_enabled: true })
  const { eventStatus } = await book(client, orderId, more)
  await settings({ async_confirmation_enabled: false })
  assert.equal(eventStatus, 'scheduled')
}

// arizona books at the lab that confirms later. Vital's library does not know this lab.
async function arizona({ client, name }, userId) {
  if (name === 'vital') return
  const orderId = await awaitingDraw(client, userId, 'sonora_quest')
  await refusedWith(book(client, orderId, {}, 'sonora_quest'), 403, /sonora_quest/)
  await settings({ sonora_quest_enabled: true })
  const held = await book(client, orderId, {}, 'sonora_quest')
  assert.deepEqual([held.provider, held.eventStatus, held.canReschedule], ['sonora_quest', 'reserved', false])
  const reason = (await client.labTests.getPscAppointmentCancellationReason())[0].id
  await refusedWith(client.labTests.cancelPscAppointment({ orderId, cancellationReasonId: reason }), 400, /cannot be cancelled/)
  await settings({ sonora_quest_enabled: false })
  await client.labTests.simulateOrderProcess({ orderId, finalStatus: 'completed.walk_in_test.completed' })
  const kept = await visitAt(client, orderId, 'completed')
  assert.deepEqual(kept.events.map(({ status }) => status), ['reserved', 'scheduled', 'completed'])
}

async function refusals({ client, name }, orderId) {
  const available = (query) => client.labTests.getPscAppointmentAvailability({ lab: 'quest', ...query })
  await refusedWith(available({}), 400, /site_codes|zip_code/)
  await refusedWith(available({ siteCodes: ['nowhere'] }), 400, /nowhere/)
  await refusedWith(available({ siteCodes: ['a', 'b', 'c', 'd'] }), 400, /3/)
  await refusedWith(available({ zipCode: '99950', radius: '10' }), 404, /zip_code/)
  await refused(available({ zipCode: '850', radius: '10' }), 'UnprocessableEntityError', /zip_code/)
  await refusedWith(available({ zipCode: '85004', radius: '10', startDate: day(-3) }), 400, /date/)
  await refusedWith(client.labTests.getPscAppointment({ orderId }), 404, /Appointment/)
  await refusedWith(client.labTests.bookPscAppointment({ orderId, body: { bookingKey: 'none' } }), 400, /key/)
  await refusedWith(client.labTests.getPhlebotomyAppointment({ orderId }), 404, /at_home_phlebotomy/)
  const soon = { bookingKey: 'none', syncConfirmationTimeoutMillisecond: 1 }
  if (name === 'junction') await refused(client.labTests.bookPscAppointment({ orderId, body: soon }), 'UnprocessableEntityError', /sync_confirmation_timeout/)
}

async function eventsOf({ types }, userId) {
  const ours = await eventsWhere((event) => event.user_id === userId && event.event_type.startsWith('labtest.appointment.'))
  const seen = ours.map((event) => decodeEvent(types, event))
  for (const { eventType, data } of seen) {
    assert.equal(eventType, data.events.length === 1 ? 'labtest.appointment.created' : 'labtest.appointment.updated')
    assert.deepEqual([data.userId, data.events.at(-1).status], [userId, data.eventStatus])
  }
  for (const status of ['reserved', 'confirmed', 'cancelled', 'completed']) assert.ok(seen.some(({ data }) => data.status === status), status)
}
