// Demographics, insurance, and the portal's links, which require them.
import assert from 'node:assert/strict'
import { address as home, patient, refused, refusedWith, testBy } from '../steps.mjs'

export default async function demographics(library) {
  const { client, name } = library
  const { userId } = await client.user.create({ clientUserId: `demographics-${name}-${Date.now()}` })
  await withoutInfo(library, userId)
  await info(library, userId)
  await insurance(library, userId)
  await portal(library, userId)
  await refusals(library, userId)
}

const address = {
  firstLine: '1 Example Street', secondLine: 'Unit 2', city: 'Phoenix', state: 'AZ', zip: '85004', country: 'US',
}
const proxy = {
  firstName: 'Grace', lastName: 'Walker', address, phoneNumber: '+14155550124', householdIncome: 52000, householdSize: 3, email: 'grace@example.com',
}
const person = {
  firstName: 'Ada', lastName: 'Walker', email: 'ada@example.com', phoneNumber: '+14155550123', gender: 'female', dob: '1984-05-17', address,
}

// notes describe the way to the door. Vital cannot send them.
const notes = (name) => name === 'junction' && { address: { ...address, accessNotes: 'Ring twice' } }

// same asserts that the answer contains all sent fields.
function same(answered, given, where = '') {
  for (const [word, value] of Object.entries(given)) {
    const at = `${where}${word}`
    if (value !== null && typeof value === 'object') same(answered[word], value, `${at}.`)
    else assert.deepEqual(answered[word] ?? null, value, at)
  }
}

async function withoutInfo({ client }, userId) {
  await refusedWith(client.user.getLatestUserInfo({ userId }), 404, /detail/)
  await refused(client.user.createPortalUrl({ userId, context: 'launch' }), 'UnprocessableEntityError', /demographics/i)
}

const words = {
  race: ['african_american_or_black', 'asian', 'indigenous_native_american_alaska_native', 'other', 'pacific_islander_or_hawaiian', 'white_caucasian'],
  ethnicity: ['hispanic', 'non_hispanic', 'ashkenazi_jewish', 'other'],
  sexualOrientation: ['lesbian_gay_or_homosexual', 'heterosexual_or_straight', 'bisexual', 'dont_know', 'other'],
  genderIdentity: [
    'male', 'female', 'female_to_male_ftm_transgender_male_trans_man', 'male_to_female_mtf_transgender_female_trans_woman', 'genderqueer', 'other',
  ],
}

// info sends all fields with every word, and then only the required ones.
async function info({ client, name }, userId) {
  for (let turn = 0; turn < 6; turn++) {
    const said = Object.fromEntries(Object.entries(words).map(([member, list]) => [member, list[turn % list.length]]))
    const given = { ...person, ...notes(name), medicalProxy: proxy, ...said }
    same(await client.user.upsertUserInfo({ userId, ...given }), given)
    same(await client.user.getLatestUserInfo({ userId }), given)
  }
  const least = { ...person, address: { ...address, secondLine: undefined } }
  const none = { medicalProxy: null, race: null, ethnicity: null, sexualOrientation: null, genderIdentity: null }
  const kept = await client.user.upsertUserInfo({ userId, ...least, ...none })
  same(kept, none)
  assert.deepEqual([kept.address.secondLine, kept.address.accessNotes], ['', undefined])
}

// insurance adds a primary record, one of another insured person, one with the
// state's plan, and one that cannot be billed yet.
async function insurance({ client }, userId) {
  const own = { payorCode: 'AETNA', memberId: 'M-1', groupId: 'G-1', relationship: 'Self', insured: person, isPrimary: true }
  const first = await client.user.createInsurance({ userId, ...own, guarantor: proxy })
  same(first, { ...own, guarantor: proxy })
  assert.equal(first.company.name, 'Aetna')
  assert.equal(typeof first.company.address.city, 'string')
  const others = { ...own, memberId: 'M-2', relationship: 'Spouse', insured: { ...person, firstName: 'Grace', gender: 'other' }, guarantor: proxy, isPrimary: false }
  same(await client.user.createInsurance({ userId, ...others }), others)
  const stated = await client.user.createInsurance({
    userId, ...own, memberId: 'M-3', payorCode: 'MAIDFED', relationship: 'Other', groupId: null, guarantor: { ...proxy, email: null, householdSize: null },
  })
  assert.equal(stated.payorCode, 'MAIDFED_AZ')
  assert.equal((await client.user.createInsurance({ userId, ...own, memberId: 'M-4', guarantor: null, isPrimary: undefined })).isPrimary, true)
  const unknown = { ...own, memberId: 'M-5', payorCode: 'Acme Health', relationship: 'Spouse', isPrimary: false }
  const flagged = await client.user.createInsurance({ userId, ...unknown })
  same(flagged, unknown)
  assert.equal(flagged.company.name, 'Acme Health')
  for (const [isPrimary, memberId] of [[undefined, 'M-4'], [null, 'M-4'], [true, 'M-4'], [false, 'M-5']]) {
    assert.equal((await client.user.getLatestInsurance({ userId, isPrimary })).memberId, memberId)
  }
}

// portal creates a link of each kind, to the person's page and to an order.
async function portal({ client }, userId) {
  const test = await testBy(client, 'walk_in_test')
  const { order } = await client.labTests.createOrder({
    userId, orderSet: { labTestIds: [test.id] }, patientDetails: patient('Walker'), patientAddress: home,
  })
  for (const [context, orderId, lifetime] of [['launch', null, 600], ['communications', order.id, 14 * 86_400]]) {
    const { url, expiresIn } = await client.user.createPortalUrl({ userId, context, orderId })
    assert.equal(expiresIn, lifetime)
    assert.equal((await fetch(url)).status, 200)
  }
}

async function refusals({ client }, userId) {
  const info = (change) => client.user.upsertUserInfo({ userId, ...person, ...change })
  await refused(info({ firstName: 'Ada!' }), 'UnprocessableEntityError', /first_name/)
  await refused(info({ address: { ...address, zip: '1' } }), 'UnprocessableEntityError', /zip/)
  await refused(info({ dob: '2100-01-01' }), 'UnprocessableEntityError', /dob/)
  const record = { userId, payorCode: 'AETNA', memberId: 'M', relationship: 'Self', insured: person }
  await refused(client.user.createInsurance({ ...record, payorCode: ' ' }), 'UnprocessableEntityError', /payor_code/)
  await refused(client.user.createInsurance({ ...record, memberId: '' }), 'UnprocessableEntityError', /member_id/)
  await refusedWith(client.user.createPortalUrl({ userId, context: 'launch', orderId: userId }), 404, /detail/)
}
