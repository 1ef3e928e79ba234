import { setTimeout as pause } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { expect, test } from 'vitest'
import { build } from '../../../proof/engine-pairs.ts'
import { startFairlead } from '../../../proof/start-fairlead.ts'
import { until } from '../../../proof/until.ts'
import { untilAction } from '../../../proof/way-back.ts'
import { slowBusTo } from '../../support/slow-bus.ts'

const version = build('valkey', '8.1')
/**
 * Longer than clients are held, shorter than the handover waits for messages. On its own the bus takes up to
 * 50 ms, but rarely at that moment.
 */
const BUS_DELAY_MS = 100
const PUBLISHERS = 3
/** A shard channel of each group. */
const shardChannels = ['{b}news', '{a}news'] as const

// invariant: Subscribers receive each message once, in order.
test('subscribers of a sharded database receive each message once, in order, although the bus is slow while roles move', async () => {
  await using fairlead = await startFairlead()
  const { api } = fairlead
  const created = await api.createDatabase({
    body: { name: 'news', memory_size: 0, replication: false, engine_version: version, shards_count: 2 },
  })
  await fairlead.untilEnded(created.action_uid)
  const database = await api.getDatabase({ params: { uid: created.uid } })
  const { uid, port, authentication_engine_pass: password = '' } = database
  await using stack = new AsyncDisposableStack()
  const connect = () => {
    const client = new Redis({ host: '127.0.0.1', port, username: 'default', password })
    stack.defer(() => client.disconnect())
    return client
  }
  const heard: string[][] = []
  const listen = () => {
    const mine: string[] = []
    heard.push(mine)
    const client = connect()
    for (const event of ['message', 'smessage'] as const) client.on(event, (_, text) => mine.push(text))
    client.on('pmessage', (_, __, text) => mine.push(text))
    return client
  }
  for (let n = 0; n < 3; n += 1) await listen().subscribe('news')
  // These subscribers would also receive any other message.
  for (let n = 0; n < 2; n += 1) await listen().psubscribe('*')
  for (const channel of shardChannels) await listen().ssubscribe(channel)

  const upgrade = await api.upgradeDatabase({
    params: { uid },
    body: { engine_version: version, force_restart: true, rollback_window: 'until_finalized' },
  })
  const action = upgrade.action_uid ?? ''
  const { certificates } = await untilAction(fairlead, action, 'it can be rolled back', (seen) => {
    return seen.needs_person && seen.rollback_eligible === true
  })
  for (const { from, to } of certificates)
    stack.use(await slowBusTo(fairlead, Number(from), { delayMs: BUS_DELAY_MS, others: [Number(to)] }))

  const sent = Array.from({ length: PUBLISHERS }, () => 0)
  let isOver = false
  const publishing = sent.map(async (_, name) => {
    const publisher = connect()
    for (let n = 1; !isOver; n += 1) {
      const text = `${name}:${n}`
      const done = shardChannels.map((channel) => publisher.spublish(channel, text))
      await Promise.all([publisher.publish('news', text), ...done])
      sent[name] = n
      await pause(2)
    }
  })
  await until('all publish', async () => sent.every((n) => n > 0))
  await api.rollbackAction({ params: { uid: action } })
  await fairlead.untilEnded(action)
  isOver = true
  await Promise.all(publishing)

  const all = sent.map((last, name) => Array.from({ length: last }, (_, n) => `${name}:${n + 1}`))
  const byPublisher = (mine: readonly string[]) =>
    sent.map((_, name) => mine.filter((text) => text.startsWith(`${name}:`)))
  await until('the last are heard', async () =>
    heard.every((mine) => byPublisher(mine).every((texts, n) => texts.includes(all[n]?.at(-1) ?? ''))),
  )
  // The faults, shorter than the lists themselves. Late: after a message that the same publisher has sent
  // later.
  const amiss = heard.map((mine) => ({
    twice: mine.length - new Set(mine).size,
    late: byPublisher(mine).flatMap((texts) => texts.filter(isLate)).length,
  }))
  expect(amiss).toEqual(heard.map(() => ({ twice: 0, late: 0 })))
  expect(heard.map(byPublisher)).toEqual(heard.map(() => all))
})

function isLate(text: string, at: number, texts: readonly string[]): boolean {
  return at > 0 && numberOf(text) <= numberOf(texts[at - 1])
}

function numberOf(text = ''): number {
  return Number(text.split(':')[1])
}
