// Phlebotomists and service centers near a ZIP code.
import assert from 'node:assert/strict'
import { api, compat } from '../events.mjs'
import { address, patient, refused, refusedWith, testBy } from '../steps.mjs'

export default async function places(library) {
  const { client } = library
  const labs = Object.fromEntries((await client.labTests.getLabs()).map(({ slug, id }) => [slug, id]))
  const { data: accounts } = await api('GET', '/v3/lab_test/lab_account')
  const account = accounts.find(({ lab }) => lab === 'quest').id
  await areas(client, labs, account)
  await centers(library, labs.quest, account)
  await ofOrder(library)
}

const billTypes = ['client_bill', 'commercial_insurance', 'patient_bill_passthrough', 'patient_bill']

async function areas(client, labs, labAccountId) {
  const whole = await client.labTests.getAreaInfo({ zipCode: '85004' })
  assert.equal(whole.zipCode, '85004')
  assert.deepEqual([whole.phlebotomy.isServed, whole.phlebotomy.providers[0].name], [true, 'getlabs'])
  assert.deepEqual(whole.phlebotomy.providers[0].serviceTypes, ['appointment-ready'])
  const { quest } = whole.centralLabs
  assert.deepEqual([quest.labId, quest.supportedBillTypes, quest.patientServiceCenters.radius], [labs.quest, billTypes, '25'])
  assert.ok(quest.patientServiceCenters.withinRadius > 0 && quest.patientServiceCenters.appointmentWithVital)
  assert.ok(quest.patientServiceCenters.capabilities.includes('appointment_scheduling_via_junction'))
  const asked = [
    [{ labs: ['quest', 'labcorp'], radius: '50' }, ['labcorp', 'quest']],
    [{ labs: 'bioreference', radius: '10' }, ['bioreference']],
    [{ lab: 'labcorp', radius: '100' }, ['labcorp']],
    [{ labAccountId, radius: '20' }, ['quest']],
  ]
  for (const [query, slugs] of asked) {
    const { centralLabs } = await client.labTests.getAreaInfo({ zipCode: '85004', ...query })
    assert.deepEqual(Object.keys(centralLabs).sort(), slugs)
    for (const slug of slugs) assert.equal(centralLabs[slug].patientServiceCenters.radius, query.radius)
  }
  const asks = await client.labTests.getAreaInfo({ zipCode: '54650' })
  assert.deepEqual(asks.phlebotomy.providers.map(({ name, serviceTypes }) => [name, serviceTypes]), [['phlebfinders', ['appointment-request']]])
  const nowhere = await client.labTests.getAreaInfo({ zipCode: '99950', labs: ['quest'] })
  assert.deepEqual([nowhere.phlebotomy, nowhere.centralLabs.quest.patientServiceCenters.withinRadius], [{ isServed: false, providers: [] }, 0])
  await refused(client.labTests.getAreaInfo({ zipCode: '8500' }), 'UnprocessableEntityError', /zip_code/)
}

// centers reads service centers. The specification writes their distance as
// text; the libraries require a number. Without reference_compat they read only
// lists without centers.
async function centers({ client, types }, labId, labAccountId) {
  const none = await client.labTests.getPscInfo({ zipCode: '99950', labId, radius: '10' })
  assert.deepEqual([none.labId, none.slug, none.patientServiceCenters], [labId, 'quest', []])
  const capabilities = ['stat', 'appointment_scheduling_via_junction']
  await distanceIsUnread(client.labTests.getPscInfo({ zipCode: '85004', labId, radius: '50', capabilities, labAccountId }))
  await distanceIsUnread(client.labTests.getPscInfo({ zipCode: '85004', labId, capabilities: 'stat' }))
  const words = capabilities.map((word) => `&capabilities=${word}`).join('')
  const found = await api('GET', `/v3/order/psc/info?zip_code=85004&lab_id=${labId}&radius=50&lab_account_id=${labAccountId}${words}`)
  const { patientServiceCenters } = types.PscInfo.parseOrThrow(withNumbers(found))
  assert.ok(patientServiceCenters.length > 0)
  for (const center of patientServiceCenters) says(center, capabilities)
  await refusedWith(client.labTests.getPscInfo({ zipCode: '85004', labId: 999 }), 404, /Lab not found/)
  await refused(client.labTests.getPscInfo({ zipCode: 'abcde', labId }), 'UnprocessableEntityError', /zip_code/)
}

// distanceIsUnread asserts that a library reads all fields of an answer except the
// distances, and with reference_compat all fields.
async function distanceIsUnread(call) {
  if (compat) {
    const { patientServiceCenters } = await call
    assert.ok(patientServiceCenters.length > 0 && patientServiceCenters.every(({ distance }) => Number.isInteger(distance)))
    return
  }
  await assert.rejects(call, ({ errors }) => {
    assert.deepEqual([...new Set(errors?.map(({ path }) => path.at(-1)))], ['distance'])
    return true
  })
}

function withNumbers(found) {
  const wanted = compat ? 'number' : 'string'
  const patient_service_centers = found.patient_service_centers.map((center) => {
    assert.equal(typeof center.distance, wanted)
    return { ...center, distance: Number(center.distance) }
  })
  return { ...found, patient_service_centers }
}

function says({ metadata, distance, siteCode, supportedBillTypes, location, capabilities }, asked) {
  for (const member of ['name', 'state', 'city', 'zipCode', 'firstLine', 'phoneNumber', 'faxNumber']) assert.ok(metadata[member], member)
  assert.ok(metadata.hours.monday[0].open < metadata.hours.monday[0].close)
  assert.ok(distance >= 0 && distance <= 50 && siteCode)
  assert.deepEqual(supportedBillTypes, billTypes)
  assert.ok(Math.abs(location.lat - 33.45) < 1 && Math.abs(location.lng + 112.07) < 1)
  for (const word of asked) assert.ok(capabilities.includes(word), word)
}

async function ofOrder({ client, types, name }) {
  const { userId } = await client.user.create({ clientUserId: `places-${name}-${Date.now()}` })
  const near = await orderAt(client, userId, address)
  await distanceIsUnread(client.labTests.getOrderPscInfo({ orderId: near }))
  await distanceIsUnread(client.labTests.getOrderPscInfo({ orderId: near, radius: '50', capabilities: ['stat', 'appointment_scheduling_via_junction'] }))
  const found = await api('GET', `/v3/order/${near}/psc/info?radius=10&capabilities=stat`)
  const { patientServiceCenters, slug } = types.PscInfo.parseOrThrow(withNumbers(found))
  assert.ok(slug && patientServiceCenters.every(({ capabilities, distance }) => distance <= 10 && capabilities.includes('stat')))
  const far = await orderAt(client, userId, { ...address, city: 'Ketchikan', state: 'AK', zip: '99950' })
  assert.deepEqual((await client.labTests.getOrderPscInfo({ orderId: far, radius: '10', capabilities: 'stat' })).patientServiceCenters, [])
  await refusedWith(client.labTests.getOrderPscInfo({ orderId: userId }), 404, /order/)
}

async function orderAt(client, userId, patientAddress) {
  const test = await testBy(client, 'walk_in_test')
  const { order } = await client.labTests.createOrder({
    userId, orderSet: { labTestIds: [test.id] }, patientDetails: patient('Near'), patientAddress,
  })
  return order.id
}
