import { setTimeout as pause } from 'node:timers/promises'
import { median } from '../median.ts'
import type { Fleet } from './start-fleet.ts'
import { PAGE, type ScaleRun } from './summarize-scale.ts'
import { watchProcesses } from './watch-process.ts'

/**
 * After its start a server looks at all databases. When this time has passed without a change, the server is
 * idle.
 */
const QUIET_MS = 2_000
const SETTLES_WITHIN_MS = 300_000
const PAGES = 9

/**
 * Measures a fleet that has just been started, first with an idle server. `rounds` of each upgrade, with
 * their medians.
 */
export async function measureScale(
  fleet: Fleet,
  { rounds, idleMs }: { readonly rounds: number; readonly idleMs: number },
): Promise<ScaleRun> {
  await settle(fleet)
  const { commands } = await fleet.simulation()
  const written = await fleet.store.count()
  const [idle] = await watchProcesses([fleet.server.pid], idleMs)
  const idleWrites = await written()
  const after = await fleet.simulation()
  const asked = after.commands - commands
  const upgrades: { readonly acceptedMs: number; readonly tookMs: number }[] = []
  const noticed: number[] = []
  for (let round = 0; round < rounds; round += 1) {
    upgrades.push(await restartUpgrade(fleet))
    noticed.push(await noticeEnd(fleet, round))
  }
  return {
    databases: fleet.simulated.length,
    acceptedMs: median(upgrades.map(({ acceptedMs }) => acceptedMs)),
    noticedMs: median(noticed),
    upgradeMs: median(upgrades.map(({ tookMs }) => tookMs)),
    idleCores: idle?.cores ?? 0,
    rssBytes: idle?.rssBytes ?? 0,
    idleWritesASecond: (idleWrites * 1_000) / idleMs,
    idleCommandsASecond: (asked * 1_000) / idleMs,
    tunnels: after.tunnels,
    pageMs: await pageMs(fleet, `/v1/bdbs?limit=${PAGE}`),
    listMs: (await pageMs(fleet, '/v1/bdbs')) ?? 0,
  }
}

async function settle({ simulation, simulated }: Fleet): Promise<void> {
  const deadline = performance.now() + SETTLES_WITHIN_MS
  let before = -1
  for (;;) {
    const { engines } = await simulation()
    if (engines === before || engines === simulated.length) break
    if (performance.now() > deadline) break
    before = engines
    await pause(QUIET_MS)
  }
  await pause(QUIET_MS)
}

/**
 * An upgrade of the real database to its own build: a successor starts and takes over, and the old shard is
 * removed.
 */
async function restartUpgrade({ api, real, untilEnded }: Fleet) {
  const began = performance.now()
  const { action_uid } = await api.upgradeDatabase({ params: { uid: real }, body: { force_restart: true } })
  const acceptedMs = performance.now() - began
  await untilEnded(action_uid)
  return { acceptedMs, tookMs: performance.now() - began }
}

/**
 * How long after the start of its new shard the upgrade of a simulated database ended, which waited for
 * nothing else.
 */
async function noticeEnd({ api, simulated, simulation, untilEnded }: Fleet, round: number): Promise<number> {
  const uid = simulated[round % simulated.length]?.databaseUid ?? 0
  const { action_uid } = await api.upgradeDatabase({
    params: { uid },
    body: { force_restart: true, force_discard: true },
  })
  const { last_changed_time } = await untilEnded(action_uid)
  const [shard] = await api.listDatabaseShards({ params: { uid } })
  const { lastUp } = await simulation()
  if (lastUp?.shard !== `s${shard?.uid}`) throw new Error(`database ${uid} has no new shard`)
  return Date.parse(last_changed_time) - lastUp.at
}

/** Null if the server has no such list. */
async function pageMs({ url, token }: Fleet, path: string): Promise<number | null> {
  const times: number[] = []
  for (let n = 0; n < PAGES; n += 1) {
    const began = performance.now()
    const response = await fetch(`${url}${path}`, { headers: { authorization: `Bearer ${token}` } })
    await response.arrayBuffer()
    if (response.status !== 200) return null
    times.push(performance.now() - began)
  }
  return median(times)
}
