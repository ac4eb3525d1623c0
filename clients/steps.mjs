// Steps that several walks take.
import assert from 'node:assert/strict'
import { setTimeout as pause } from 'node:timers/promises'

// until reads until done says so and returns what was read; a minute at the longest.
export async function until(read, done) {
  for (const end = Date.now() + 60_000; ; ) {
    const answer = await read()
    if (done(answer)) return answer
    assert.ok(Date.now() < end, `still ${JSON.stringify(answer)?.slice(0, 500)}`)
    await pause(20)
  }
}

// refused asserts that a call is refused with an error of the library's of
// that name, whose body its decoder accepted.
export function refused(call, name, detail) {
  return assert.rejects(call, (error) => {
    assert.equal(error.constructor.name, name, `${error.method}: ${error.message}`)
    assert.match(JSON.stringify(error.body), detail)
    return true
  })
}

// refusedWith asserts that a call is refused with a status for which the
// libraries have no error of its own.
export function refusedWith(call, status, detail) {
  return assert.rejects(call, (error) => {
    assert.equal(error.statusCode, status, `${error.method}: ${error.message}`)
    assert.match(JSON.stringify(error.body), detail)
    return true
  })
}

// pdf asserts that a binary answer is a PDF and returns its bytes.
export async function pdf(answer) {
  const bytes = Buffer.from(await answer.arrayBuffer())
  assert.equal(bytes.subarray(0, 5).toString(), '%PDF-')
  return bytes
}

// patient are the details of a person of that family name.
export const patient = (lastName, more) => ({
  firstName: 'Ada', lastName, dob: '1984-05-17', gender: 'female', phoneNumber: '+14155550123', email: 'ada@example.com', ...more,
})

// address is where patients live.
export const address = {
  receiverName: 'Ada Walker', firstLine: '1 Example Street', secondLine: 'Unit 2', city: 'Phoenix', state: 'AZ', zip: '85004', country: 'US',
  phoneNumber: '+14155550123',
}

// testBy finds a lab test of the catalogue that is collected so.
export async function testBy(client, collectionMethod) {
  const [test] = await client.labTests.get({ collectionMethod, status: 'active', generationMethod: 'all', name: builtIn[collectionMethod] })
  return test
}

const builtIn = {
  testkit: 'home health kit', walk_in_test: 'annual check', at_home_phlebotomy: 'annual check at home', on_site_collection: 'clinic draw',
}
