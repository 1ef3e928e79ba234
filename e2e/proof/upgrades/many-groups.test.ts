import { readdir, readFile } from 'node:fs/promises'
import { loadavg } from 'node:os'
import type { Action } from '@fairlead/api'
import { startLoad } from '@fairlead/ledger'
import { expect, test } from 'vitest'
import { logLevel } from '../../../bench/upgrade/parallel-upgrade.ts'
import { build } from '../../../proof/engine-pairs.ts'
import { startFairlead } from '../../../proof/start-fairlead.ts'

/** MANY_GROUPS=64 is a long run; the default is small enough for the suite. */
const groups = Number(process.env['MANY_GROUPS'] ?? 8)
const replication = process.env['MANY_GROUPS_REPLICATED'] !== undefined
/** MANY_GROUPS_UPGRADE=no ends after the creation, to measure it alone. */
const isUpgraded = process.env['MANY_GROUPS_UPGRADE'] !== 'no'
const perSecond = groups > 16 ? 3_000 : 1_000
const WITHIN_MS = groups > 16 ? 900_000 : 60_000
// The hundred ports of a test are too few for many groups.
const ports = groups > 16 ? { FAIRLEAD_PORT_RANGE: '5000-5499' } : {}

test(`${groups} groups are created, and upgraded while clients write through the endpoint`, {
  timeout: 2 * WITHIN_MS,
}, async () => {
  await using fairlead = await startFairlead({ env: { ...logLevel(), ...ports } })
  const { api } = fairlead
  using watching = watch(() => api.listNodes({}))
  const began = performance.now()
  const { uid, action_uid } = await api.createDatabase({
    body: {
      ...{ name: 'many', memory_size: 0, replication, shards_count: groups },
      engine_version: build('valkey', '8.0'),
    },
  })
  const created = await fairlead.untilEnded(action_uid, WITHIN_MS)
  expect(created.status, created.error).toBe('completed')
  const createdMs = performance.now() - began
  process.stderr.write(`${JSON.stringify({ groups, replication, createdMs, ...watching.worst() })}\n`)
  if (!isUpgraded) return
  const { authentication_engine_pass: password = '' } = await api.getDatabase({ params: { uid } })
  const lookup = { url: `${fairlead.url}/v1/bdbs/${uid}`, token: fairlead.token }
  await using load = await startLoad({ kind: 'incr', password, connections: 8, perSecond, lookup })
  watching.follow(() => load.perSecond())
  await load.untilAcked(perSecond)

  const asked = performance.now()
  const { action_uid: upgrade } = await api.upgradeDatabase({
    params: { uid },
    body: { engine_version: build('valkey', '8.1') },
  })
  const action = await fairlead.untilEnded(upgrade, WITHIN_MS)
  const upgradedMs = performance.now() - asked
  await load.untilAcked(load.acked() + 500)
  const { errors, reconnects, acked } = await load.stop()
  const { lost, duplicated, examples } = await load.readBack()
  process.stderr.write(
    `${JSON.stringify({ groups, replication, ...secondsOf({ createdMs, upgradedMs }), acked, ...watching.worst(), ...stopsOf(action) })}\n`,
  )
  expect(action.status, action.error).toBe('completed')
  expect(action.certificates).toHaveLength(groups)
  expect({ errors, reconnects, lost, duplicated, examples }).toEqual({
    ...{ errors: {}, reconnects: 0, lost: 0, duplicated: 0, examples: [] },
  })
})

/**
 * The state of the machine, each second: TCP sockets of the whole machine, its load, writes of clients, the longest answer to a request that goes
 * to the agent, and processor time by program.
 */
function watch(ask: () => Promise<unknown>) {
  let rate = () => Number.NaN
  let worst = { sockets: 0, load: 0, answerMs: 0, writesPerSecond: Number.POSITIVE_INFINITY }
  const time = async () => {
    const asked = performance.now()
    await ask().catch(() => undefined) // The time of a request that is refused, or interrupted at the end, counts, too.
    worst = { ...worst, answerMs: Math.max(worst.answerMs, Math.round(performance.now() - asked)) }
  }
  let openedBefore = 0
  let before = new Map<string, number>()
  const look = async () => {
    const opened = Number(/^Tcp: (?:-?\d+ ){4}(\d+)/m.exec(await readFile('/proc/net/snmp', 'utf8'))?.[1])
    const sockets = /^TCP: inuse (\d+)/m.exec(await readFile('/proc/net/sockstat', 'utf8'))?.[1]
    const now = Math.round(rate())
    worst = {
      ...worst,
      sockets: Math.max(worst.sockets, Number(sockets)),
      load: Math.max(worst.load, loadavg()[0] ?? 0),
      writesPerSecond: Number.isNaN(now) ? worst.writesPerSecond : Math.min(worst.writesPerSecond, now),
    }
    if (process.env['MANY_GROUPS_WATCH'] === undefined) return
    const after = await processorTime()
    const spent = [...after]
      .map(([name, ticks]) => `${name} ${ticks - (before.get(name) ?? 0)}`)
      .filter((text) => !text.endsWith(' 0'))
    before = after
    process.stderr.write(
      `${new Date().toISOString().slice(11, 19)} tcp ${sockets} opened ${opened - openedBefore} load ${loadavg()[0]} writes ${now} | ${spent.join(', ')}\n`,
    )
    openedBefore = opened
  }
  const timer = setInterval(() => void Promise.all([look(), time()]), 1_000)
  return {
    follow: (perSecond: () => number) => {
      rate = perSecond
    },
    worst: () => worst,
    [Symbol.dispose]: () => clearInterval(timer),
  }
}

/** In hundredths of a second, by program; `/proc/…/stat` has it. */
async function processorTime(): Promise<Map<string, number>> {
  const spent = new Map<string, number>()
  for (const pid of await readdir('/proc')) {
    if (!/^\d+$/.test(pid)) continue
    const [stat, line] = await Promise.all(
      ['stat', 'cmdline'].map((name) => readFile(`/proc/${pid}/${name}`, 'utf8').catch(() => '')),
    )
    const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ') ?? []
    const program = line?.includes('-server') ? 'engines' : /main.ts\0(\w+)/.exec(line ?? '')?.[1]
    const other = /(proxy|load-main|vitest)/.exec(line ?? '')?.[1] ?? 'others'
    const name = program ?? other
    for (const [what, at] of [
      ['user', 11],
      ['kernel', 12],
    ] as const)
      spent.set(`${name}.${what}`, (spent.get(`${name}.${what}`) ?? 0) + Number(fields[at] ?? 0))
  }
  return spent
}

function secondsOf({ createdMs, upgradedMs }: { createdMs: number; upgradedMs: number }) {
  return { created: Math.round(createdMs / 1_000), upgraded: Math.round(upgradedMs / 1_000) }
}

function stopsOf({ certificates }: Action) {
  const middle = (all: readonly number[]) => {
    const sorted = all.toSorted((a, b) => a - b)
    return { median: sorted[Math.floor(sorted.length / 2)], most: sorted.at(-1) }
  }
  return {
    writeStopMs: middle(certificates.flatMap(({ write_stop_ms }) => write_stop_ms ?? [])),
    heldMs: middle(certificates.map(({ held_ms }) => held_ms ?? 0)),
  }
}
