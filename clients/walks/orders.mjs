// Orders of each method with all fields, their changes, and the list of orders with each
// of its filters.
import assert from 'node:assert/strict'
import { api, decodeEvent, eventsWhere } from '../events.mjs'
import { address, patient, refused, testBy, until } from '../steps.mjs'

export default async function orders(library) {
  const { client, name } = library
  const { userId } = await client.user.create({ clientUserId: `orders-${name}-${Date.now()}` })
  const whole = await withEverything(client, name, userId)
  const planned = await later(client, userId)
  await imported(client, name, userId)
  await methods(client, userId)
  await addedMarkers(client, userId)
  await lists(client, userId, whole, planned)
  await again(client, whole)
  await refusals(client, userId)
  await eventsOf(library, userId)
}

const proxy = {
  firstName: 'Grace', lastName: 'Guardian', phoneNumber: '+14155550199', email: 'grace@example.com', householdIncome: 90000, householdSize: 3,
  address: { firstLine: '9 Elm Street', secondLine: null, country: 'US', zip: '85004', city: 'Phoenix', state: 'AZ', accessNotes: 'Back door' },
}

const physician = { firstName: 'Paula', lastName: 'Physician', email: 'paula@example.com', npi: '1234567893', licensedStates: ['AZ', 'CA'] }

const image = { contentType: 'image/png', content: 'iVBORw0KGgoAAAANSUhEUgAAAAgAAAAECAAAAACWpiEsAAAADklEQVR4nGP4DwUMuBkAPgIf4WZScsAAAAAASUVORK5CYII=' }

// insurance is the deprecated field, of which only the diagnoses are used.
const insurance = {
  frontImage: image, backImage: image, patientSignatureImage: image, subjective: 'tired', assessmentPlan: 'test', payorCode: 'UNITED',
  insuranceId: 'M-1', responsibleRelationship: 'Self', diagnosisCodes: ['E11.9'],
  responsibleDetails: { firstName: 'Grace', lastName: 'Guardian', address: proxy.address, phoneNumber: '+14155550199', phoneType: 'mobile' },
}

// withEverything orders with every member of the request, twice under one key.
async function withEverything(client, name, userId) {
  const test = await diabetesTest(client, name)
  const details = patient('Whole', {
    medicalProxy: proxy, race: 'asian', ethnicity: 'non_hispanic', sexualOrientation: 'dont_know', genderIdentity: 'female',
    householdIncome: 80000, householdSize: 2,
  })
  const { data: accounts } = await api('GET', '/v3/lab_test/lab_account')
  const [choice, several] = test.markers[0].aoe.questions
  const request = {
    idempotencyKey: `whole-${userId}`, idempotencyError: 'no-cache', userId, orderSet: { labTestIds: [test.id] },
    labAccountId: accounts.find(({ lab }) => lab === 'quest').id,
    physician: { ...physician, signatureImage: image }, healthInsurance: insurance, priority: true,
    billingType: 'client_bill', icdCodes: ['E11.9', 'I10'], consents: [{ consentType: 'terms-of-use', version: '1.0', timeOfConsent: new Date() }],
    aoeAnswers: [
      { markerId: test.markers[0].id, questionId: choice.id, answer: choice.answers[0].code },
      { markerId: test.markers[0].id, questionId: several.id, answer: several.answers[1].code },
    ],
    passthrough: `{"of":"${name}"}`, clinicalNotes: 'Faints at the sight of needles', creatorMemberId: userId,
    patientDetails: details, patientAddress: { ...address, accessNotes: 'Ring twice' },
  }
  const { order, status, message } = await client.labTests.createOrder(request)
  assert.deepEqual([status, message.length > 0], ['success', true])
  const same = await client.labTests.createOrder(request)
  assert.equal(same.order.id, order.id)
  says(order, request, name)
  return order
}

async function diabetesTest(client, name) {
  const test = { name: `Sugar of ${name}`, description: '', method: 'walk_in_test', providerIds: ['70028'], fasting: true }
  const { id: labTestId } = await client.labTests.create(test)
  return client.labTests.updateLabTest({ labTestId, active: true })
}

// says asserts that an order has the fields of its request.
function says(order, request, name) {
  const { householdIncome, householdSize, dob, medicalProxy, ...details } = request.patientDetails
  for (const [member, value] of Object.entries(details)) assert.equal(order.patientDetails[member], value, member)
  assert.equal(order.patientDetails.dob.toISOString().slice(0, 10), dob)
  const { address: where, ...who } = medicalProxy
  for (const [member, value] of Object.entries(who)) assert.equal(order.patientDetails.medicalProxy[member], value, member)
  assert.deepEqual([order.patientDetails.medicalProxy.address.zip, where.zip], ['85004', '85004'])
  for (const [member, value] of Object.entries(request.patientAddress)) {
    if (name === 'junction' || member !== 'accessNotes') assert.equal(order.patientAddress[member], value, member)
  }
  for (const member of ['userId', 'priority', 'passthrough', 'billingType']) assert.equal(order[member], request[member], member)
  assert.deepEqual(order.icdCodes, request.icdCodes)
  assert.deepEqual(order.physician, { firstName: 'Paula', lastName: 'Physician', npi: physician.npi })
  assert.equal(order.labTest.markers[0].providerId, '70028')
  assert.deepEqual([order.details.type, order.status, order.hasAbn], ['walk_in_test', 'received', false])
  assert.ok(order.createdAt instanceof Date && order.details.data.id && order.teamId)
  assert.equal(order.events.at(-1).status, 'received.walk_in_test.ordered')
  if (name === 'vital') return // knows nothing of the rest
  assert.equal(order.clinicalNotes, request.clinicalNotes)
  assert.deepEqual(order.lastEvent, order.events.at(-1))
  assert.equal(order.origin, 'initial')
  assert.deepEqual([order.orderTransaction.status, order.orderTransaction.orders[0].id], ['active', order.id])
}

const inDays = (days) => new Date(Date.now() + days * 86400e3).toISOString().slice(0, 10)

// later orders for another day, and moves the day if the library can.
async function later(client, userId) {
  const test = await testBy(client, 'walk_in_test')
  const { order } = await client.labTests.createOrder({
    userId, labTestId: test.id, activateBy: inDays(3), patientDetails: patient('Planned'), patientAddress: address,
    orderSet: null, collectionMethod: null, physician: null, healthInsurance: null, icdCodes: null, aoeAnswers: null, passthrough: null,
    labAccountId: null, creatorMemberId: null, consents: [],
  })
  assert.equal(order.activateBy, inDays(3))
  if (client.labTests.updateOrder === undefined) return order
  const moved = await client.labTests.updateOrder({ orderId: order.id, activateBy: inDays(5) })
  assert.equal(moved.order.activateBy, inDays(5))
  return moved.order
}

async function imported(client, name, userId) {
  const { order } = await client.labTests.importOrder({
    userId, billingType: 'client_bill', orderSet: { addOn: { providerIds: ['70002'] } }, collectionMethod: 'walk_in_test', physician,
    patientDetails: patient('Imported'), patientAddress: { ...address, accessNotes: 'Ring twice' }, sampleId: `IMP-${name}-${Date.now() % 1e8}`,
  })
  assert.match(order.sampleId, /^IMP-/)
  assert.equal(order.labTest.markers[0].providerId, '70002')
}

// methods orders with each method. It completes the draw of on-site orders and cancels
// the others.
async function methods(client, userId) {
  for (const method of ['testkit', 'at_home_phlebotomy', 'on_site_collection']) {
    const test = await testBy(client, method)
    const people = { patientDetails: patient(`By ${method.replace('_', ' ').replace('_', ' ')}`), patientAddress: address }
    const { order } = await client.labTests.createOrder({ userId, orderSet: { labTestIds: [test.id] }, ...people })
    const { id: orderId, details } = order
    assert.equal(details.type, method)
    assert.ok(details.data.id)
    if (method === 'on_site_collection') await drawn(client, orderId)
    else {
      const { order: cancelled, message } = await client.labTests.cancelOrder({ orderId })
      assert.deepEqual([cancelled.status, message], ['cancelled', 'order cancelled'])
    }
  }
}

async function drawn(client, orderId) {
  const finalStatus = 'received.on_site_collection.requisition_created'
  await client.labTests.simulateOrderProcess({ orderId, finalStatus })
  await until(() => client.labTests.getOrder({ orderId }), ({ events }) => events.at(-1).status === finalStatus)
  const { order } = await client.labTests.updateOnSiteCollectionOrderDrawCompleted({ orderId })
  assert.equal(order.events.at(-1).status, 'sample_with_lab.on_site_collection.draw_completed')
}

async function addedMarkers(client, userId) {
  const { markers: [one] } = await client.labTests.getMarkers({ labId: 2, name: '70002' })
  const { order } = await client.labTests.createOrder({
    userId, orderSet: { addOn: { markerIds: [one.id] } }, collectionMethod: 'walk_in_test', billingType: 'patient_bill',
    patientDetails: patient('Added'), patientAddress: address,
  })
  assert.deepEqual([order.labTest.autoGenerated, order.labTest.markers[0].id, order.billingType], [true, one.id, 'patient_bill'])
}

// lists finds orders with each filter.
async function lists(client, userId, whole, planned) {
  const get = async (filters) => (await client.labTests.getOrders({ userId, size: 100, ...filters })).orders.map(({ id }) => id)
  const all = await get()
  assert.equal(all.length, 7)
  const [hour, now] = [new Date(Date.now() - 3600e3), new Date(Date.now() + 1000)]
  const found = [
    { searchInput: whole.id }, { patientName: 'Whole' }, { orderIds: [whole.id] }, { orderIds: [whole.id], startDate: hour, endDate: now },
    { orderIds: [whole.id], updatedStartDate: hour, updatedEndDate: now, orderType: ['walk_in_test', 'testkit'] },
    { patientName: 'Whole', status: ['ordered', 'requisition_created'], orderActivationTypes: ['current'], isCritical: false },
    { shippingRecipientName: 'walker', orderIds: whole.id, orderTransactionId: null, isCritical: null },
    ...(whole.orderTransaction ? [{ orderTransactionId: whole.orderTransaction.id }] : []),
  ]
  for (const filters of found) assert.deepEqual(await get(filters), [whole.id], JSON.stringify(filters))
  assert.deepEqual(await get({ orderActivationTypes: 'scheduled' }), [planned.id])
  assert.deepEqual(await get({ interpretation: 'critical', isCritical: true }), [])
  assert.deepEqual(await get({ endDate: hour }), [])
  assert.equal((await get({ status: ['cancelled'] })).length, 2)
  assert.deepEqual(await get({ orderKey: 'created_at', orderDirection: 'asc' }), all.toReversed())
  const names = await client.labTests.getOrders({ userId, orderKey: 'patient_name', orderDirection: 'desc', page: 2, size: 3 })
  assert.deepEqual([names.orders.length, names.page, names.size, names.total], [3, 2, 3, 7])
  await client.labTests.getOrders({ userId, orderKey: 'last_status' })
}

async function again(client, { id }) {
  assert.deepEqual(await client.order.resendEvents({ orderIds: [id], startAt: null, endAt: null }), { orderIds: [id] })
  const { orderIds } = await client.order.resendEvents({ startAt: new Date(Date.now() - 3600e3), endAt: new Date() })
  assert.ok(orderIds.includes(id))
}

async function refusals(client, userId) {
  const test = await testBy(client, 'walk_in_test')
  const people = { patientDetails: patient('Refused'), patientAddress: address }
  const bad = [
    [{ patientDetails: patient('Refused', { dob: 'soon' }) }, /dob/], [{ patientAddress: { ...address, zip: '1' } }, /zip/],
    [{ icdCodes: ['nonsense'], billingType: 'commercial_insurance' }, /icd_codes/], [{ activateBy: 'soon' }, /activate_by/],
  ]
  for (const [member, detail] of bad) {
    const refusal = client.labTests.createOrder({ userId, labTestId: test.id, ...people, ...member })
    await refused(refusal, 'UnprocessableEntityError', detail)
  }
  await refused(client.labTests.getOrders({ size: 101 }), 'UnprocessableEntityError', /size/)
}

// eventsOf decodes the events of the user's orders.
async function eventsOf({ types }, userId) {
  const ours = await eventsWhere((event) => event.user_id === userId && event.event_type.startsWith('labtest.order.'))
  assert.ok(ours.length > 10)
  for (const event of ours) {
    const { data, eventType, clientUserId } = decodeEvent(types, event)
    assert.ok(data.events.length > 0 && clientUserId, eventType)
    assert.equal(data.userId, userId)
  }
}
