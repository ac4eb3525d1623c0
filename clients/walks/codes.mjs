// The same test at other labs, and codes of diagnoses.
import assert from 'node:assert/strict'
import { refused } from '../steps.mjs'

export default async function codes({ client }) {
  await diagnoses(client)
  if (client.compendium === undefined) return // vital is older than it
  const canonical = await search(client)
  await crosswalk(client, canonical)
  await convert(client)
}

async function diagnoses(client) {
  const good = await client.labTests.validateIcdCodes({ codes: ['E11.9', 'I10'] })
  assert.deepEqual([good.valid, good.errors], [true, []])
  const bad = await client.labTests.validateIcdCodes({ codes: ['nonsense', 'R73.03', 'E11.9', 'J44.9', 'J45.909'] })
  assert.equal(bad.valid, false)
  assert.match(bad.errors[0], /nonsense/i)
  assert.deepEqual(bad.violations, [{ code: 'R73.03', conflictsWith: 'E11.9', type: 'excludes1' }])
  assert.deepEqual(bad.warnings, [{ code: 'J44.9', overlapsWith: 'J45.909', type: 'excludes2' }])
}

async function search(client) {
  const found = await client.compendium.search({
    mode: 'canonical', query: 'lipid panel', cptCodes: [], loincSetHash: null, labs: null, includeRelated: true, limit: 3,
  })
  assert.equal(found.mode, 'canonical')
  const [first] = found.canonicalCandidates
  assert.match(first.displayName, /lipid/i)
  assert.ok(first.loincSetHash && first.confidence > 0 && first.popularityScore >= 0)
  for (const list of ['loincCodes', 'providerIds', 'loincComponents', 'loincGroups', 'cptCodes', 'aliases']) {
    assert.ok(Array.isArray(first[list]), list)
  }
  assert.ok(first.loincCodes.length > 0 && first.providerIds.length > 0)
  return first
}

async function crosswalk(client, { loincSetHash, cptCodes }) {
  const across = await client.compendium.search({ mode: 'crosswalk', loincSetHash, labs: ['quest', 'labcorp'], includeRelated: true, limit: 2 })
  assert.equal(across.selectedCanonical.loincSetHash, loincSetHash)
  assert.deepEqual(Object.keys(across.perLab).sort(), ['labcorp', 'quest'])
  const [candidate] = across.perLab.labcorp
  assert.deepEqual([candidate.labSlug, candidate.relation, candidate.loincSetHash], ['labcorp', 'exact', loincSetHash])
  assert.ok(candidate.markerId && candidate.labId && candidate.name && candidate.providerId)
  assert.ok(candidate.resultNames.length > 0 && candidate.reasonCodes.length > 0 && candidate.markerPopularityScore >= 0)
  assert.ok(across.related.length > 0 && across.related[0].canonical.displayName && across.related[0].relation)
  const byCode = await client.compendium.search({ mode: 'canonical', query: 'lipid', cptCodes: [cptCodes[0]] })
  assert.ok(byCode.canonicalCandidates.every((one) => one.cptCodes.includes(cptCodes[0])))
  await refused(client.compendium.search({ mode: 'canonical' }), 'UnprocessableEntityError', /query/)
}

async function convert(client) {
  const codes = ['70002', '70028']
  const converted = await client.compendium.convert({ providerIds: codes, targetLab: 'labcorp', limit: 2 })
  assert.equal(converted.targetLabSlug, 'labcorp')
  assert.deepEqual(converted.sourceProviderIds, codes)
  assert.deepEqual([converted.convertedProviderIds.length, converted.unresolvedProviderIds], [2, []])
  assert.equal(converted.bySourceProviderId['70002'].sourceProviderId, '70002')
  assert.equal(converted.bySourceProviderId['70002'].candidates[0].labSlug, 'labcorp')
  const [annual] = await client.labTests.get({ name: 'annual check', labSlug: 'quest' })
  const whole = await client.compendium.convert({ labTestId: annual.id, targetLab: 'bioreference' })
  assert.deepEqual([whole.sourceLabTestId, whole.sourceLabId], [annual.id, annual.lab.id])
  const { candidates } = await client.compendium.searchOrderableTests({ providerIds: codes, targetLab: 'labcorp', perProviderLimit: 1 })
  for (const code of codes) assert.deepEqual(candidates[code].map(({ labSlug }) => labSlug), ['labcorp'])
}
