import { agentOperations, type Epoch, proxyOperations } from '@fairlead/api'
import { createSemaphore } from '@fairlead/engine'
import { bucketOf } from '../../core/state/bucket.ts'
import { type AgentLink, AgentUnreachable, connectAgent, StaleEpoch } from '../../nodes/agent-link.ts'
import { prepareMove } from '../../nodes/open-move.ts'
import { openTunnel } from '../../nodes/open-tunnel.ts'
import { connectProxy, type ProxyLink } from '../../nodes/proxy-link.ts'
import { createEnginePool, type EnginePool, type Engines, type WaysToEngines } from './engines.ts'

/** This server's connections for one database and epoch: after a takeover by another server, all refuse. */
export interface Reach {
  readonly agent: AgentLink
  readonly proxy: ProxyLink
  readonly engines: Engines
}

/** Gives each turn its connections; must learn of turns and rest. Dispose to close those to engines. */
export interface Reaches extends Disposable, Pick<EnginePool, 'work' | 'rest'> {
  /** `epoch`: of the database's bucket. */
  under(databaseUid: number, epoch: number): Reach
}

/** Creates connections from the node's Unix sockets. Engines are reached only through the agent. */
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
  /** Map from bucket to the connections of its last epoch. */
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
    move: (shards, epoch) => prepareMove(agentSocket, shards, epoch),
    life: async (epoch) =>
      (await links(epoch).agent.readLife({}, { signal: AbortSignal.timeout(LIFE_WITHIN_MS) })).life,
  })
  return {
    under(databaseUid, number) {
      const epoch = { bucket: bucketOf(databaseUid), epoch: number }
      const { agent, proxy } = links(epoch)
      return { agent, proxy, engines: pool.under(epoch) }
    },
    work: pool.work,
    rest: pool.rest,
    [Symbol.dispose]: () => pool[Symbol.dispose](),
  }
}

/**
 * The agent accepts one connection in each round of its event loop, and a late tunnel is requested again. On
 * two busy processors the tunnels to 128 shards of one database were late each time: the agent worked only on
 * abandoned ones.
 */
const TUNNELS_AT_ONCE = 16

/** If the agent does not answer one request, the queued ones fail with it: each would miss its deadline. */
function fewAtOnce(open: WaysToEngines['open']): WaysToEngines['open'] {
  const inTurn = createSemaphore(TUNNELS_AT_ONCE)
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

/** The agent is asked after an engine gave no answer; a handover may wait for that. */
const LIFE_WITHIN_MS = 1_000
