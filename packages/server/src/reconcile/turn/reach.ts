import { agentOperations, type Epoch, proxyOperations } from '@fairlead/api'
import { bucketOf } from '../../core/state/bucket.ts'
import { type AgentLink, connectAgent } from '../../nodes/agent-link.ts'
import { openTunnel } from '../../nodes/open-tunnel.ts'
import { connectProxy, type ProxyLink } from '../../nodes/proxy-link.ts'
import { createEnginePool, type EnginePool, type Engines } from './engines.ts'

/** The connections of this server for one database, under one epoch: once another server has taken over, all of them refuse. */
export interface Reach {
  readonly agent: AgentLink
  readonly proxy: ProxyLink
  readonly engines: Engines
}

/** Gives each turn its reach, and is told of its beginning and of the rest after it. Disposed of, it closes the connections to engines. */
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
  /** By bucket, those of its last epoch. */
  const known = new Map<number, ReturnType<typeof linksUnder>>()
  const links = (epoch: Epoch) => {
    const found = known.get(epoch.bucket)
    if (found?.epoch.epoch === epoch.epoch) return found
    const made = linksUnder(epoch)
    known.set(epoch.bucket, made)
    return made
  }
  const pool = createEnginePool({
    open: (shard, epoch) => openTunnel(agentSocket, shard, epoch),
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

/** It is asked when an engine gave no answer; a handover may wait for it. */
const LIFE_WITHIN_MS = 1_000
