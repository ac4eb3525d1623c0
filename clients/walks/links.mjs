// The methods for providers' clouds, from which Hale does not fetch. Each is refused as
// an unknown operation.
import assert from 'node:assert/strict'

export default async function links({ client, name }) {
  const { userId } = await client.user.create({ clientUserId: `links-${name}-${Date.now()}` })
  for (const [method, request] of Object.entries(absent(userId))) {
    const [part, call] = method.split('.')
    if (client[part][call] === undefined) continue // vital has more than junction
    await assert.rejects(client[part][call](request), ({ statusCode, body }) => {
      assert.deepEqual([method, statusCode, body], [method, 404, { code: 'not_found', detail: 'Not Found' }])
      return true
    })
  }
}

// absent lists every such method, with a request that its library sends.
function absent(userId) {
  const vitalLinkToken = 'token'
  const some = { userIds: [userId], provider: 'fitbit' }
  return {
    'link.listBulkOps': { pageSize: 10 },
    'link.bulkImport': { provider: 'fitbit', connections: [], waitForCompletion: true },
    'link.bulkTriggerHistoricalPull': some,
    'link.bulkExport': some,
    'link.bulkPause': some,
    'link.token': { userId, provider: 'fitbit', filterOnProviders: ['fitbit'], onError: 'redirect' },
    'link.isTokenValid': { token: 'token' },
    'link.startConnect': { linkToken: 'token', provider: 'fitbit' },
    'link.tokenState': { vitalLinkToken },
    'link.emailAuth': { email: 'a@example.com', provider: 'freestyle_libre', authType: 'email', vitalLinkToken },
    'link.passwordAuth': { username: 'a', password: 'b', provider: 'whoop', authType: 'password', vitalLinkToken },
    'link.generateOauthLink': { oauthProvider: 'fitbit', vitalLinkToken },
    'link.connectPasswordProvider': { provider: 'whoop', username: 'a', password: 'b', vitalLinkToken },
    'link.completePasswordProviderMfa': { provider: 'whoop', mfaCode: '1', vitalLinkToken },
    'link.connectEmailAuthProvider': { provider: 'freestyle_libre', email: 'a@example.com', vitalLinkToken },
    'link.getAllProviders': { vitalLinkToken },
    'team.getLinkConfig': { vitalLinkToken },
    'team.getSvixUrl': undefined,
  }
}
