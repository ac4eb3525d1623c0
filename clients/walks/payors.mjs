// Payors, diagnoses and accounts at labs.
import assert from 'node:assert/strict'
import { api } from '../events.mjs'
import { refused } from '../steps.mjs'

export default async function payors(library) {
  await directory(library)
  await ownPayor(library)
  await diagnoses(library)
  await accounts(library)
}

async function directory({ client }) {
  const [aetna] = await client.insurance.searchGetPayorInfo({ insuranceName: 'aetna' })
  assert.deepEqual([aetna.payorCode, aetna.name, aetna.source], ['AETNA', 'Aetna', 'platform'])
  assert.ok(Array.isArray(aetna.aliases) && aetna.orgAddress.country === 'US')
  const [same] = await client.insurance.searchPayorInfo({ insuranceName: 'aetna', provider: null, providerId: null })
  assert.deepEqual([same.code, same.name, same.orgAddress], [aetna.payorCode, aetna.name, aetna.orgAddress])
  assert.deepEqual(await client.insurance.searchGetPayorInfo({ insuranceName: 'nobody is called so', providerPayorId: null }), [])
}

// clearingHouses lists the clearing houses that both libraries know.
const clearingHouses = ['change_healthcare', 'availity', 'stedi', 'waystar', 'claim_md']

// ownPayor adds a payor of the team for each clearing house, and finds it.
async function ownPayor({ client, name }) {
  const address = { firstLine: '5 Insurer Street', secondLine: 'Floor 2', city: 'Phoenix', state: 'AZ', zip: '85004', country: 'US' }
  for (const provider of clearingHouses) {
    const providerPayorId = `${name}-${Date.now()}`
    const made = await client.payor.createPayor({ name: `Mutual ${name} ${provider}`, address, provider, providerPayorId })
    assert.match(made.payorCode, /^TEAM-/)
    assert.deepEqual([made.name, made.source, made.aliases], [`Mutual ${name} ${provider}`, 'team', []])
    for (const [word, value] of Object.entries(address)) assert.equal(made.orgAddress[word], value)
    assert.deepEqual(await client.insurance.searchGetPayorInfo({ provider, providerPayorId }), [made])
    const [same] = await client.insurance.searchPayorInfo({ provider, providerId: providerPayorId })
    assert.equal(same.code, made.payorCode)
  }
  const plain = await client.payor.createPayor({ name: `Plain ${name}`, address, provider: null, providerPayorId: null })
  assert.equal(plain.name, `Plain ${name}`)
  await refused(client.payor.createPayor({ name: '', address }), 'UnprocessableEntityError', /name/)
  await refused(client.payor.createPayor({ name: 'X', address: { ...address, state: 'Nowhere' } }), 'UnprocessableEntityError', /state/)
  await refused(client.insurance.searchGetPayorInfo(), 'UnprocessableEntityError', /insurance_name/)
}

async function diagnoses({ client }) {
  const found = await client.insurance.searchDiagnosis({ diagnosisQuery: 'type 2 diabetes' })
  assert.ok(found.some(({ diagnosisCode, description, isSecondary }) => diagnosisCode === 'E11.9' && /diabetes/.test(description) && isSecondary === false))
  const [other] = await client.insurance.searchDiagnosis({ diagnosisQuery: 'B95' })
  assert.equal(other.isSecondary, true)
  await refused(client.insurance.searchDiagnosis({ diagnosisQuery: '' }), 'UnprocessableEntityError', /diagnosis_query/)
}

// accounts lists the lab accounts of the team. Vital has no method for it.
async function accounts({ client }) {
  if (client.labAccount === undefined) return
  const { data } = await client.labAccount.getTeamLabAccounts()
  const { data: raw } = await api('GET', '/v3/lab_test/lab_account')
  assert.deepEqual(data.map(({ id }) => id), raw.map(({ id }) => id))
  const [first] = data
  assert.ok(first.lab && first.providerAccountId && first.delegatedFlow && Object.keys(first.allowedBilling).length > 0)
  assert.ok(Array.isArray(first.teamIdAllowlist) && Array.isArray(first.businessUnits))
  const { data: one } = await client.labAccount.getTeamLabAccounts({ labAccountId: first.id, status: first.status })
  assert.deepEqual(one, [first])
  assert.deepEqual((await client.labAccount.getTeamLabAccounts({ labAccountId: null, status: 'suspended' })).data, [])
}
