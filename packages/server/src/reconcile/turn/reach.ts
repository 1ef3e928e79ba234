import { agentOperations, type Epoch, proxyOperations } from '@fairlead/api'
import { createTurns } from '@fairlead/engine'
import { bucketOf } from '../../core/state/bucket.ts'
import { type AgentLink, AgentUnreachable, connectAgent, StaleEpoch } from '../../nodes/agent-link.ts'
import { openTunnel } from '../../nodes/open-tunnel.ts'
import { connectProxy, type ProxyLink } from '../../nodes/proxy-link.ts'
import { createEnginePool, type EnginePool, type Engines, type WaysToEngines } from './engines.ts'

/** The connections of this server for one database, under one epoch: once another server has taken over, all of them refuse. */
export interface Reach {
  readonly agent: AgentLink
  readonly proxy: ProxyLink
  readonly engines: Engines
}

/** Gives each turn its connections, and is told when a turn begins and when the database rests. Disposed of, it closes the connections to engines. */
export interface Reaches extends Disposable, Pick<EnginePool, 'work' | 'rest'> {
  /** `epoch`: of the bucket of the database. */
  under(databaseUid: number, epoch: number): Reach
}

/** Where the agent and the proxy of the node listen (Unix sockets). Engines are reached through the agent, and in no other way. */
export function createReaches({
  agentSocket,
  proxySocket,
}: {
  readonly agentSocket: string
  readonly proxySocket: string
}): Reaches {
  const linksUnder = (epoch: Epoch) => ({
    epoch,
    agent: connectAgent(agentOperations, agentSocket, { epoch }),
    proxy: connectProxy(proxyOperations, proxySocket, { epoch }),
  })
  /** By bucket, the connections of its last epoch. */
  const known = new Map<number, ReturnType<typeof linksUnder>>()
  const links = (epoch: Epoch) => {
    const found = known.get(epoch.bucket)
    if (found?.epoch.epoch === epoch.epoch) return found
    const made = linksUnder(epoch)
    known.set(epoch.bucket, made)
    return made
  }
  const pool = createEnginePool({
    open: fewAtOnce((shard, epoch) => openTunnel(agentSocket, shard, epoch)),
    life: async (epoch) =>
      (await links(epoch).agent.readLife({}, { signal: AbortSignal.timeout(LIFE_WITHIN_MS) })).life,
  })
  return {
    under(databaseUid, number) {
      const epoch = { bucket: bucketOf(databaseUid), epoch: number }
      const { agent, proxy } = links(epoch)
      return { agent, proxy, engines: pool.under(epoch) }
    },
    ...{ work: pool.work, rest: pool.rest },
    [Symbol.dispose]: () => pool[Symbol.dispose](),
  }
}

/**
 * The agent accepts one connection in a round of its event loop, and a tunnel that is late is asked for again. On two busy processors the tunnels to the 128 shards
 * of one database were all late, each time: the agent worked only on those that the server had given up already.
 */
const TUNNELS_AT_ONCE = 16

/** If the agent does not answer one of them, those in the queue fail with it: they do not wait for a deadline each. */
function fewAtOnce(open: WaysToEngines['open']): WaysToEngines['open'] {
  const inTurn = createTurns(TUNNELS_AT_ONCE)
  let waiting = new AbortController()
  return (shard, epoch) =>
    inTurn(async () => {
      try {
        return await open(shard, epoch)
      } catch (cause) {
        if (cause instanceof AgentUnreachable && !(cause instanceof StaleEpoch)) {
          waiting.abort(cause)
          waiting = new AbortController()
        }
        throw cause
      }
    }, waiting.signal)
}

/** The agent is asked when an engine gave no answer; a handover may wait for that. */
const LIFE_WITHIN_MS = 1_000
