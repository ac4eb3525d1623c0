// A lab report is uploaded and its results are read.
import assert from 'node:assert/strict'
import { Blob } from 'node:buffer'
import { refusedWith, until } from '../steps.mjs'

export default async function reports({ client, name }) {
  // The older library takes one file.
  const create = (file, userId) => client.labReport.parserCreateJob({ file: name === 'vital' ? file : [file], userId })
  const { userId } = await client.user.create({ clientUserId: `report-${name}-${Date.now()}` })
  const file = new Blob(['%PDF-1.4 a report'], { type: 'application/pdf' })
  const created = await create(file, userId)
  assert.equal(created.needsHumanReview, false)
  assert.equal((await create(file, userId)).id, created.id)
  const job = await until(() => client.labReport.parserGetJob({ jobId: created.id }), ({ status }) => status !== 'started')
  assert.equal(job.status, 'completed')
  assert.equal(job.failureReason ?? null, null)
  const [glucose, unheard] = job.data.results
  assert.deepEqual([glucose.testName, glucose.value, glucose.units, glucose.maxReferenceRange], ['Glucose', '91', 'mg/dL', 99])
  assert.deepEqual([glucose.loincMatches[0].loincCode, glucose.interpretation], ['2345-7', 'normal'])
  if (name === 'junction') assert.deepEqual([glucose.loincMatchStatus, unheard.loincMatchStatus], ['auto_match', 'no_match'])
  const text = new Blob(['no report'], { type: 'application/pdf' })
  await refusedWith(create(text, userId), 400, /no PDF/)
}
