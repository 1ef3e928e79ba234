/** A server in the tests' world, from its start to its death: the ports of the reconciler, and its memory. */

import type { Address, NodeReport, ShardReport } from '@fairlead/api'
import {
  createEffect,
  createMutex,
  type Effect,
  type EngineConnection,
  EngineError,
  moveRole,
} from '@fairlead/engine'
import type { PreparedMove } from '../../src/nodes/open-move.ts'
import type { TurnPorts } from '../../src/reconcile/loop/turn-ports.ts'
import { type MovingRole, tryingOn } from '../../src/reconcile/turn/engines.ts'
import { createOrdersToServe } from '../../src/reconcile/turn/orders-to-serve.ts'
import { createPreparations } from '../../src/reconcile/turn/preparations.ts'
import { createTakeovers } from '../../src/reconcile/turn/take-over.ts'
import type { Time } from '../../src/reconcile/turn/time.ts'
import { createTurnMemory, type TurnMemory } from '../../src/reconcile/turn/turn-memory.ts'
import type { Action } from './action.ts'
import { connectionsOf } from './connections.ts'
import { seeDisk } from './look.ts'
import { remove } from './processes.ts'
import { recordsOf, unasked } from './records-in-memory.ts'
import { type Member, membersOf, put, type World } from './world.ts'

/** The server was killed: it does nothing more. */
export class Died extends Error {
  override readonly name = 'Died'
}

export interface Server {
  readonly ports: TurnPorts
  readonly memory: TurnMemory
  /** It dies before or after an effect, after this many such moments; null: it lives. */
  dieAfter(moments: number): void
  readonly isDead: () => boolean
}

/** A server that has just started. `death` is called at the moment of its death. */
export function startServer(action: Action, death: () => void): Server {
  const { world } = action
  let left = Number.POSITIVE_INFINITY
  let isDead = false
  const refuse = () => {
    if (isDead) throw new Died('nothing comes from a server that was killed')
  }
  const effect = createEffect(() => {
    refuse()
    left -= 1
    if (left >= 0) return
    isDead = true
    death()
    refuse()
  })
  const began = world.time.elapsed()
  const time: Time = { elapsed: () => world.time.elapsed() - began, pause: world.time.pause }
  const connect = connectionsOf(world, refuse)
  const said = () => undefined
  const ports: TurnPorts = {
    ...recordsOf(action, refuse),
    engines: {
      connect: (_, { id }) => connect(id),
      tryOn: tryingOn((_, { id }) => connect(id)),
      forget: said,
      listen: unasked,
      acknowledge: unasked,
      newestClient: unasked,
      prepareMove: (_, shards) => prepareMove(shards, connect, { effect, elapsed: time.elapsed }),
    },
    agent: { ...agentOf(world, refuse) },
    proxy: proxyWithoutEndpoints,
    trials: {
      whyUnproven: async () => undefined,
      provesTls: async () => false,
      deliver: async () => undefined,
    },
    tls: { shards: unasked, current: unasked },
    shardTls: false,
    portRange: { from: 1, to: 65_535 },
    endpointAddresses: [],
    runExclusive: createMutex(),
    effect,
    time,
    now: () => world.time.elapsed(),
    log: { info: said, warn: said, error: said },
    preparations: createPreparations(time),
    takeovers: createTakeovers(time),
    ordersToServe: createOrdersToServe(),
  }
  return {
    ports,
    memory: createTurnMemory(time.elapsed),
    isDead: () => isDead,
    dieAfter(moments) {
      left = moments
    },
  }
}

/** The agent carries out a move on connections of its own; it ends with the server that has ordered it. */
async function prepareMove(
  { from, to, others }: MovingRole,
  connect: (id: number) => Promise<EngineConnection>,
  ports: { readonly effect: Effect; readonly elapsed: () => number },
): Promise<PreparedMove> {
  const members = {
    primary: await connect(from),
    successor: await connect(to),
    others: await Promise.all(others.map(connect)),
  }
  let at: Address = { host: '', port: 0 }
  return {
    async order({ validForMs, followAt, ...terms }, { give, refused }) {
      at = followAt
      const until = ports.elapsed() + validForMs
      let given = false
      const onGiven = () => {
        given = true
        give()
      }
      try {
        return await moveRole({ ...members, ...terms, until, onGiven }, ports)
      } catch (cause) {
        if (given && cause instanceof EngineError) refused()
        throw cause
      }
    },
    follow: () =>
      ports.effect('follow', async () => void (await members.primary.call('REPLICAOF', at.host, at.port))),
    [Symbol.dispose]: () => undefined,
  }
}

/** Clients of this database connect to its shards. */
const proxyWithoutEndpoints: TurnPorts['proxy'] = {
  reportProxy: async () => ({
    pid: 1,
    rssBytes: 0,
    endpoints: [],
    sentinel: { host: '', port: 0, state: 'off', why: '', connections: 0, databases: 0 },
  }),
  putEndpoint: unasked,
  removeEndpoint: unasked,
  holdEndpoint: unasked,
  releaseEndpoint: unasked,
  switchEndpoint: unasked,
  prepareEndpoint: unasked,
  takeScripts: unasked,
  giveUpBlocked: unasked,
  readTape: unasked,
}

function agentOf(world: World, refuse: () => void): TurnPorts['agent'] {
  const memberOf = (name: string): Member | undefined => {
    refuse()
    return membersOf(world).find(({ id }) => name === `s${id}`)
  }
  return {
    async putShard({ params, body }) {
      const member = memberOf(params.id)
      if (member === undefined) throw new Error(`${params.id} is put, and not on record`)
      put(member, {
        revision: body.revision,
        onCrash: body.onCrash,
        follows: body.replicaOf === null ? null : body.replicaOf.port,
      })
      return reportOf(member, world)
    },
    async removeShard({ params }) {
      const member = memberOf(params.id)
      if (member !== undefined) remove(world, member)
      return { id: params.id }
    },
    findFreePort: async () => ({ port: world.nextShard }),
    readBaseline: async () => ({ settings: {} }),
    async reportNode() {
      refuse()
      return nodeReport(world)
    },
    async reportShards() {
      refuse()
      return nodeReport(world)
    },
    endShardProcess: unasked,
    putLimits: unasked,
    putSaving: unasked,
    putPasswords: unasked,
    putUsers: unasked,
    putShardCertificate: unasked,
  }
}

function nodeReport(world: World): NodeReport {
  const there = membersOf(world).filter(({ state }) => state !== 'absent')
  return {
    uid: 1,
    host: '',
    cores: 2,
    memoryTotalBytes: 1e12,
    memoryFreeBytes: world.memoryFreeBytes,
    diskFreeBytes: 1e12,
    shards: there.map((member) => reportOf(member, world)),
    modules: [],
    proxy: { state: 'running', why: '', pid: 1, crashes: 0 },
  }
}

function reportOf(member: Member, world: World): ShardReport {
  const { id, state, wanted, revision, spec, endedCleanly, stall, engine } = member
  const disk = seeDisk(member, world)
  const snapshot = disk.snapshot && { ...disk.snapshot, at: 0 }
  const doing = {
    forMs: (stall?.past ?? 0) * 500,
    doing: 'stopped',
    hung: false,
    isLong: true,
    why: 'was stopped',
    onDisk: false,
  } as const
  return {
    id: `s${id}`,
    state: state === 'absent' ? 'exited' : state,
    revision: revision ?? '',
    build: wanted.build,
    host: '',
    port: id,
    pid: null,
    startedAt: 0,
    crashes: 0,
    endedInOrder: endedCleanly,
    beganAfterDeath: false,
    why: state,
    portTaken: false,
    failsToStart: null,
    certificate: null,
    asleep: state === 'exited' && spec?.onCrash === 'wait',
    trouble: '',
    memoryBytes: 0,
    evictionPolicy: 'noeviction',
    cannotRead: engine?.cannotRead ?? false,
    disk: { ...disk, snapshot },
    silence: stall === null || engine === null ? null : doing,
  }
}
