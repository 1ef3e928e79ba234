import { createClient, fetchTransport, operations } from '@fairlead/api'
import { expect } from 'vitest'
import { createDatabase } from '../../proof/create-database.ts'
import { usualPair } from '../../proof/engine-pairs.ts'
import { freshName } from '../../proof/fresh-name.ts'
import { adminPassword } from '../../proof/start-fairlead.ts'
import { test } from '../support/shared-fairlead.ts'

const { from, to } = usualPair()

test('a password gives a token for as long as asked; a wrong one, and an unknown user, get the same refusal', async ({
  fairlead: { url },
}) => {
  const api = createClient(operations, fetchTransport(url, 60_000))
  const { access_token } = await api.authorizeUser({
    body: { username: 'admin', password: adminPassword, ttl: 60 },
  })
  const [, claims = ''] = access_token.split('.')
  const { exp, iat } = JSON.parse(Buffer.from(claims, 'base64url').toString())
  expect(exp - iat).toBe(60)
  for (const scheme of ['Bearer', 'JWT']) {
    const answer = await fetch(`${url}/v1/bdbs`, { headers: { authorization: `${scheme} ${access_token}` } })
    expect(answer.status).toBe(200)
  }
  for (const body of [
    { username: 'admin', password: 'wrong' },
    { username: freshName('nobody'), password: 'wrong' },
  ])
    await expect(api.authorizeUser({ body })).rejects.toMatchObject({
      status: 401,
      code: 'invalid_credentials',
    })
  await expect(api.listDatabases({})).rejects.toMatchObject({ status: 401, code: 'unauthorized' })
})

test('a user whose role may only look sees a database, and upgrades none', async ({ fairlead }) => {
  const { uid } = await createDatabase(fairlead, {
    name: freshName('seen'),
    memory_size: 0,
    engine_version: from,
    replication: false,
  })
  const login = { name: freshName('eve'), password: 'only-looks-at-it' }
  await fairlead.api.createUser({ body: { ...login, role: 'cluster_viewer' } })
  const transport = fetchTransport(fairlead.url, 60_000)
  const { access_token } = await createClient(operations, transport).authorizeUser({
    body: { username: login.name, password: login.password },
  })
  const eve = createClient(operations, transport, () => access_token)
  expect(await eve.getDatabase({ params: { uid } })).toMatchObject({ uid, status: 'active' })
  await expect(eve.upgradeDatabase({ params: { uid }, body: { engine_version: to } })).rejects.toMatchObject({
    status: 403,
    code: 'forbidden',
  })
  const logs = await fairlead.api.listLogs({ query: { order: 'desc', limit: 50 } })
  expect(logs.map(({ type }) => type)).toContain('user_created')
})
