import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { connectEngine } from '@fairlead/engine'
import { expect, test } from 'vitest'
import { build } from '../../../proof/engine-pairs.ts'
import { startCollector } from '../../../proof/start-collector.ts'
import { adminPassword, startFairlead } from '../../../proof/start-fairlead.ts'
import { until } from '../../../proof/until.ts'

test('no password, token or value of a client is in the logs of server, agent and proxy, in metrics, or in traces', async () => {
  await using collector = await startCollector()
  let log = ''
  const env = { FAIRLEAD_LOG_LEVEL: 'debug', OTEL_EXPORTER_OTLP_ENDPOINT: collector.url }
  await using fairlead = await startFairlead({
    env,
    onLog: (text) => {
      log += text
    },
  })
  const { api } = fairlead
  const chosen = 'chosen-w9Qx-for-the-database'
  const ofUser = 'chosen-w9Qx-for-mia'
  const wrong = 'wrong-w9Qx-of-a-stranger'
  const value = 'a-value-w9Qx-of-a-client'
  await api.createUser({
    body: { name: 'mia', password: ofUser, email: 'mia@example.org', role: 'db_viewer' },
  })
  await api.authorizeUser({ body: { username: 'mia', password: wrong } }).catch(() => undefined)
  const { access_token: token } = await api.authorizeUser({ body: { username: 'mia', password: ofUser } })
  const body = { name: 'held', memory_size: 0, replication: true, authentication_engine_pass: chosen }
  const made = await api.createDatabase({ body: { ...body, engine_version: build('redis', '7.0') } })
  await fairlead.untilEnded(made.action_uid)
  const { port } = await api.getDatabase({ params: { uid: made.uid } })
  const signIn = (password: string) =>
    connectEngine({
      address: { host: '127.0.0.1', port },
      login: { username: 'default', password },
      connectTimeoutMs: 60_000,
      commandTimeoutMs: 60_000,
    })
  {
    using client = await signIn(chosen)
    await client.call('SET', 'key', value)
    await expect(signIn(wrong)).rejects.toThrow()
    const upgrade = { engine_version: build('valkey', '8.1') }
    const { action_uid } = await api.upgradeDatabase({ params: { uid: made.uid }, body: upgrade })
    await fairlead.untilEnded(action_uid)
  }
  const tokenFile = ['server/own/metrics.token', 'metrics.token'].map((name) => join(fairlead.home, name))
  const scrape = readFileSync(tokenFile.find((file) => existsSync(file)) ?? '', 'utf8').trim()
  const metrics = await fetch(new URL('/metrics', fairlead.url), {
    headers: { authorization: `Bearer ${scrape}` },
  })
  // Trouble is logged in more words.
  const [agent, server] = [fairlead.agent, fairlead.server]
  await agent.end('SIGKILL')
  await until('the server has noticed', () => log.includes('the agent does not answer'))
  await agent.start()
  await server.end('SIGTERM')
  await server.start()
  const removed = await api.deleteDatabase({ params: { uid: made.uid } })
  await fairlead.untilEnded(removed.action_uid)

  await until('the last spans', () =>
    collector.taken.some(({ body: sent }) => sent.includes('action delete')),
  )
  const places = {
    'the logs of server and agent': log,
    'the log of the proxy': readFileSync(join(fairlead.home, 'proxy', 'proxy.log'), 'utf8'),
    metrics: await metrics.text(),
    traces: collector.taken.map(({ body: sent }) => sent).join('\n'),
  }
  // They have what they are for, so an empty one proves nothing here.
  expect(places['the logs of server and agent']).toContain('step carried out')
  expect(places.metrics).toContain('fairlead_logins_total{')
  expect(places.traces).toContain('step hand-over')
  const secrets = {
    chosen,
    ofUser,
    wrong,
    value,
    token,
    scrape,
    admin: adminPassword,
    adminToken: fairlead.token,
  }
  for (const [place, text] of Object.entries(places))
    for (const [name, secret] of Object.entries(secrets))
      expect(text.includes(secret), `${name} in ${place}`).toBe(false)
})
