import { Redis } from 'ioredis'
import { expect, test } from 'vitest'
import { build } from '../../../proof/engine-pairs.ts'
import { asAdmin } from '../../../proof/roles.ts'
import { startFairlead } from '../../../proof/start-fairlead.ts'
import { until } from '../../../proof/until.ts'
import { untilAction } from '../../../proof/way-back.ts'

// invariant: A role does not move to a shard that accepts no clients.
test('a role does not move to a shard that accepts no clients: the upgrade says so, and goes on when it accepts them again', async () => {
  await using fairlead = await startFairlead()
  const { api } = fairlead
  const { uid, action_uid } = await api.createDatabase({
    body: { name: 'full', memory_size: 0, engine_version: build('valkey', '8.0') },
  })
  await fairlead.untilEnded(action_uid)
  const { port, authentication_engine_pass: password = '' } = await api.getDatabase({ params: { uid } })
  const { action_uid: action = '' } = await api.upgradeDatabase({
    params: { uid },
    body: { engine_version: build('valkey', '8.1'), supervised: true, rollback_window: 0 },
  })
  await untilAction(
    fairlead,
    action,
    'it waits for the order before the role moves',
    (seen) => seen.needs_person,
  )

  await using client = countThrough(port, password)
  await until('the client counts', async () => client.count() > 100)
  using successor = await asAdmin(fairlead, 2)
  await successor.call('CONFIG', 'SET', 'maxclients', 1)
  await api.resumeAction({ params: { uid: action } })
  const waits = await untilAction(
    fairlead,
    action,
    'it waits for the successor',
    ({ hold_reason }) => hold_reason === 'clients_refused',
  )
  expect(waits).toMatchObject({ status: 'active', certificates: [] })
  expect(waits.waiting_for).toContain('ERR max number of clients')
  const meanwhile = client.count()
  await until('clients go on', async () => client.count() > meanwhile + 100)

  await successor.call('CONFIG', 'SET', 'maxclients', 10_000)
  const { status, certificates, warnings } = await fairlead.untilEnded(action)
  expect({ status, warnings }).toEqual({ status: 'completed', warnings: [] })
  expect(certificates.map(({ from, to }) => `${from} to ${to}`)).toEqual(['1 to 2'])
  const after = client.count()
  await until('clients go on', async () => client.count() > after + 100)
  expect(await client.stop()).toEqual({ errors: [], connections: 1, stored: client.count() })
})

/**
 * One client that counts, one request after the other. Answers its errors, its connections, and the last
 * number.
 */
function countThrough(port: number, password: string) {
  const client = new Redis({ host: '127.0.0.1', port, username: 'default', password })
  const errors: string[] = []
  let [count, connections, isOver] = [0, 0, false]
  client.on('connect', () => (connections += 1))
  client.on('error', ({ message }) => errors.push(message))
  const work = async () => {
    while (!isOver)
      await client.incr('n').then(
        () => (count += 1),
        (cause: Error) => errors.push(cause.message),
      )
  }
  const working = work()
  const stop = async () => {
    isOver = true
    await working
    return { errors, connections, stored: Number(await client.get('n')) }
  }
  return {
    count: () => count,
    stop,
    async [Symbol.asyncDispose]() {
      isOver = true
      client.disconnect()
      await working
    },
  }
}
