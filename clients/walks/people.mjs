// Users: creation, changes, deletion and restoration.
import assert from 'node:assert/strict'
import { api } from '../events.mjs'
import { refused, refusedWith } from '../steps.mjs'

export default async function people(library) {
  const made = await create(library)
  await find(library, made)
  await pages(library, made)
  await change(library, made)
  await signIn(library, made)
  await leave(library, made)
  await refusals(library, made)
}

async function create({ client, name }) {
  const clientUserId = `people/${name} ü?${Date.now()}`
  const given = {
    clientUserId, fallbackTimeZone: 'Europe/Berlin', fallbackBirthDate: '1984-05-17', ingestionStart: '2026-01-01', ingestionEnd: '2036-12-31',
  }
  const options = { headers: { 'Idempotency-Key': clientUserId.replace(/\W/g, '') } }
  const { userId } = await client.user.create(given, options)
  assert.equal((await client.user.create(given, options)).userId, userId, 'the same request once more')
  const user = await client.user.get({ userId })
  assert.equal(user.clientUserId, clientUserId)
  assert.deepEqual([user.fallbackTimeZone.id, user.fallbackTimeZone.sourceSlug], ['Europe/Berlin', 'manual'])
  assert.deepEqual([user.fallbackBirthDate.value, user.fallbackBirthDate.sourceSlug], ['1984-05-17', 'manual'])
  assert.deepEqual([user.ingestionStart, user.ingestionEnd], ['2026-01-01', '2036-12-31'])
  assert.deepEqual(user.connectedSources, [])
  for (const date of [user.createdOn, user.fallbackTimeZone.updatedAt, user.fallbackBirthDate.updatedAt]) assertRecent(date)
  return user
}

function assertRecent(date) {
  assert.ok(date instanceof Date && Math.abs(Date.now() - date) < 60_000, String(date))
}

// find searches the user by every reference.
async function find({ client }, made) {
  assert.deepEqual(await client.user.getByClientUserId({ clientUserId: made.clientUserId }), made)
  for (const queryId of [made.userId, made.clientUserId]) {
    assert.deepEqual(await client.team.getUserById({ queryId }), [made])
  }
  assert.deepEqual(await client.team.getUserById({ queryId: 'nobody is called so' }), [])
  assert.deepEqual(await client.team.getUserById(), [])
  assert.deepEqual(await client.team.getUserById({ queryId: null }), [])
}

async function pages({ client }, made) {
  const first = await client.user.getAll({ offset: 0, limit: 1 })
  assert.deepEqual([first.users, first.offset, first.limit], [[made], 0, 1])
  const { userId: older } = await client.user.create({ clientUserId: `${made.clientUserId} too` })
  const second = await client.user.getAll({ offset: 1, limit: 1 })
  assert.deepEqual([second.users, second.total], [[made], first.total + 1])
  await refusedWith(client.user.patch({ userId: older, clientUserId: made.clientUserId }), 409, /already exists/)
  await client.user.delete({ userId: older })
  for (const none of [undefined, {}, { offset: null, limit: null }]) {
    const { limit, offset } = await client.user.getAll(none)
    assert.deepEqual([offset, limit], [0, 100])
  }
}

// change replaces all fields, and then clears them.
async function change({ client }, { userId, clientUserId }) {
  const given = {
    clientUserId: `${clientUserId} again`, fallbackTimeZone: 'Europe/Paris', fallbackBirthDate: '1984-05-18', ingestionStart: '2026-02-01', ingestionEnd: '2036-11-30',
  }
  assert.equal(await client.user.patch({ userId, ...given }), undefined)
  const user = await client.user.get({ userId })
  assert.deepEqual([user.clientUserId, user.fallbackTimeZone.id, user.fallbackBirthDate.value], Object.values(given).slice(0, 3))
  assert.deepEqual([user.ingestionStart, user.ingestionEnd], ['2026-02-01', '2036-11-30'])
  await client.user.patch({ userId, clientUserId, fallbackTimeZone: null, fallbackBirthDate: null, ingestionStart: null, ingestionEnd: null })
  const cleared = await client.user.get({ userId })
  for (const word of ['fallbackTimeZone', 'fallbackBirthDate', 'ingestionStart', 'ingestionEnd']) assert.equal(cleared[word] ?? null, null, word)
}

// signIn creates a sign-in token and signs a phone in.
async function signIn({ client }, { userId }) {
  const token = await client.user.getUserSignInToken({ userId })
  assert.equal(token.userId, userId)
  const expiresAt = new Date(Date.now() + 86_400_000)
  const code = await client.link.codeCreate({ userId, expiresAt })
  assert.match(code.code, /^(sk|pk)(eu|us)[0-9a-f]{8}$/)
  assert.ok(code.exchangeUrl.endsWith(code.code))
  assert.ok(Math.abs(code.expiresAt - expiresAt) < 2000)
  assert.ok((await client.link.codeCreate({ userId, expiresAt: null })).expiresAt > Date.now())
  for (const body of [{ sign_in_token: token.signInToken }, { code: code.code }]) {
    assert.equal((await api('POST', '/v2/link/exchange', body)).user_id, userId)
  }
}

// leave deletes the user and restores it, by either reference.
async function leave({ client }, { userId, clientUserId }) {
  for (const ref of [{ userId }, { clientUserId, userId: null }]) {
    assert.deepEqual(await client.user.delete({ userId }), { success: true })
    await refusedWith(client.user.get({ userId }), 404, /detail/)
    assert.deepEqual(await client.user.undoDelete(ref), { success: true })
    assert.equal((await client.user.get({ userId })).clientUserId, clientUserId)
  }
  await client.user.delete({ userId })
  const { userId: taker } = await client.user.create({ clientUserId })
  await refusedWith(client.user.undoDelete({ clientUserId }), 409, /detail/)
  await client.user.delete({ userId: taker })
  await client.user.undoDelete({ userId })
}

async function refusals({ client }, { userId, clientUserId, createdOn }) {
  const again = await client.user.create({ clientUserId }).catch((error) => error)
  assert.equal(again.constructor.name, 'BadRequestError')
  assert.deepEqual([again.body.detail.user_id, new Date(again.body.detail.created_on)], [userId, createdOn])
  await refused(client.user.create({ clientUserId: `${clientUserId}x`, fallbackTimeZone: 'Nowhere/Town' }), 'UnprocessableEntityError', /fallback_time_zone/)
  await refused(client.user.patch({ userId, ingestionStart: 'soon' }), 'UnprocessableEntityError', /ingestion_start/)
  await refused(client.user.getAll({ limit: 501 }), 'UnprocessableEntityError', /limit/)
  await refused(client.user.get({ userId: 'nobody' }), 'UnprocessableEntityError', /user_id/)
  await refused(client.user.undoDelete({ userId, clientUserId }), 'UnprocessableEntityError', /exactly one/)
  await refused(client.link.codeCreate({ userId, expiresAt: new Date(0) }), 'UnprocessableEntityError', /expires_at/)
}
