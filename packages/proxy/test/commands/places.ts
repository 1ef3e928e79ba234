import type { Endpoint } from '../../src/endpoint/endpoint.ts'
import { makeCluster } from '../sharded-stage.ts'
import { type Engine, makePair, startEngine, until } from '../stage.ts'
import { type Place, USER, USER_RIGHTS } from './run-rows.ts'
import { talk } from './talk.ts'

/**
 * Longer than any of this takes on a busy machine: half-sent requests and slow readers are not waited for.
 */
const HOLD = { deadlineMs: 60_000, drainMs: 30_000 }

type OwnedPlace = Place & AsyncDisposable & { readonly engine: Engine }

/** An undisturbed engine. */
export async function singleEngine(build: string): Promise<OwnedPlace> {
  const engine = await startEngine(build)
  await allow([engine])
  return {
    engine,
    port: engine.port,
    handOver: (whileHeld) => whileHeld(),
    whenBlocked: (count) => whenBlocked([engine], count),
    [Symbol.asyncDispose]: () => engine[Symbol.asyncDispose](),
  }
}

/** A primary with its replica, behind an endpoint. */
export async function plainEndpoint(from: string, to: string): Promise<OwnedPlace> {
  const pair = await makePair(from, to)
  await allow([pair.a, pair.b])
  return {
    engine: pair.a,
    port: pair.port,
    async handOver(whileHeld) {
      const successor = pair.primary() === pair.a ? pair.b : pair.a
      await until(() => isLinked(successor))
      const { drained, why } = await pair.endpoint.hold(HOLD)
      if (!drained) throw new Error(why)
      await whileHeld()
      await carryScripts(pair.endpoint, successor)
      await pair.moveRole()
      await pair.endpoint.switchTo({ host: '127.0.0.1', port: successor.port })
    },
    whenBlocked: (count) => whenBlocked([pair.primary()], count),
    [Symbol.asyncDispose]: () => pair[Symbol.asyncDispose](),
  }
}

/**
 * Three groups with a replica each, behind an endpoint for clients that know nothing of slots. All of them
 * hand over.
 */
export async function shardedEndpoint(build: string): Promise<OwnedPlace> {
  const cluster = await makeCluster({ build, withReplicas: true })
  const engines = [...cluster.primaries, ...cluster.replicas]
  await allow(engines)
  const [engine] = engines
  if (engine === undefined) throw new Error('no engines')
  const slots = cluster.shards.map(({ first }) => first)
  return {
    engine,
    port: cluster.port,
    async handOver(whileHeld) {
      const { drained, why } = await cluster.endpoint.hold(HOLD)
      if (!drained) throw new Error(why)
      await whileHeld()
      for (const engine of engines) await carryScripts(cluster.endpoint, engine)
      for (const [group, slot] of slots.entries()) {
        const port = await cluster.moveRole(group)
        await cluster.endpoint.switchTo({ host: '127.0.0.1', port }, slot)
      }
    },
    whenBlocked: (count) => whenBlocked(engines, count),
    [Symbol.asyncDispose]: () => cluster[Symbol.asyncDispose](),
  }
}

async function allow(engines: readonly Engine[]): Promise<void> {
  const [name, password] = USER
  for (const engine of engines) {
    const answer = await engine.admin(`ACL SETUSER ${name} on >${password} ${USER_RIGHTS}`)
    if (!answer.startsWith('+OK')) throw new Error(answer)
  }
}

/** As the server does it: what clients have loaded is at the successor before they are. */
async function carryScripts(endpoint: Endpoint, successor: Engine): Promise<void> {
  const { flushed, scripts } = endpoint.takeScripts({ host: '127.0.0.1', port: successor.port }, false)
  using talker = await talk(successor.port)
  if (flushed) await talker.ask([Buffer.from('SCRIPT'), Buffer.from('FLUSH')])
  const load = (script: string) =>
    talker.ask([Buffer.from('SCRIPT'), Buffer.from('LOAD'), Buffer.from(script, 'base64')])
  await Promise.all(scripts.map(load))
}

async function isLinked(replica: Engine): Promise<boolean> {
  return (await replica.admin('INFO replication')).includes('master_link_status:up')
}

async function whenBlocked(engines: readonly Engine[], count: number): Promise<void> {
  let blocked = 0
  await until(
    async () => {
      const all = await Promise.all(engines.map((engine) => engine.admin('INFO clients')))
      const counts = all.map((text) => Number(/blocked_clients:(\d+)/.exec(text)?.[1]))
      blocked = counts.reduce((sum, each) => sum + each, 0)
      return blocked === count
    },
    () => `${blocked} clients wait, not ${count}`,
  )
}
