/** A group in memory whose role the product's code moves: engines, stream, clients and records. */

import type { Address } from '@fairlead/api'
import { createEffect, type Effect, type EngineConnection, moveRole } from '@fairlead/engine'
import type { HeldClients, NotHeld } from '../../src/reconcile/clients/endpoints.ts'
import type { HandoverPorts, RoleToMove } from '../../src/reconcile/handover/hand-over.ts'
import type { Move } from '../../src/reconcile/handover/move-role.ts'
import { createOrdersToServe } from '../../src/reconcile/turn/orders-to-serve.ts'
import { createTakeovers } from '../../src/reconcile/turn/take-over.ts'
import {
  type Engine,
  emptyEngine,
  follow,
  HOLE,
  type Pick,
  picksOf,
  promote,
  replicate,
  write,
} from './engines.ts'
import { createVirtualTime, type VirtualTime } from './virtual-time.ts'

/** `death`: the server dies after this many moments, which are before and after effects; null: it lives. */
export interface Plot {
  readonly seed: number
  readonly inCluster: boolean
  readonly siblings: number
  readonly death: number | null
  readonly trouble: Trouble
}

/**
 * - `stuck stream`: at some point the successor stops receiving.
 * - `stumbling successor`: command failures, counted. `forgetful successor`: lost writes, not counted.
 * - `writes get through`: some reach a stopped primary. Not in cluster mode: only the stop saves them.
 * - `clients in the way`: the endpoint cannot hold them.
 */
export type Trouble =
  | 'none'
  | 'stuck stream'
  | 'stumbling successor'
  | 'forgetful successor'
  | 'writes get through'
  | 'clients in the way'

export interface Stage {
  readonly role: RoleToMove
  readonly ports: HandoverPorts
  readonly engines: readonly Engine[]
  readonly acknowledged: ReadonlySet<number>
  /** In this order. */
  readonly recorded: readonly string[]
  readonly clients: { at: 'old' | 'held' | 'successor' }
  /** Where clients were at each look at users and settings. */
  readonly looked: ('old' | 'held' | 'successor')[]
  /** Whether the successor may have been told to serve, as far as the server of the handover knows. */
  readonly mayServe: () => boolean
  /** Lets time pass: clients write, the stream flows, shards meet. Throws if two engines take writes. */
  tick(): void
}

/** The server was killed in the middle of a handover: it does nothing more. */
export class Died extends Error {
  override readonly name = 'Died'
}

const [OLD, SUCCESSOR] = [1, 2]
const build = { flavour: 'redis', version: '7.0.15' } as const

/** Shard 1 serves, shard 2 is the successor, and the others follow shard 1, too. */
export function stageOf(plot: Plot): Stage {
  const pick = picksOf(plot.seed)
  const engines = [OLD, SUCCESSOR, ...Array.from({ length: plot.siblings }, (_, n) => n + 3)].map(() =>
    emptyEngine(''),
  )
  const old = at(engines, OLD)
  for (const follower of engines.slice(1))
    Object.assign(follower, { role: 'replica', primary: OLD, link: 'up', replid: old.replid })
  const time = createVirtualTime()
  const orders = createOrdersToServe()
  const group = { databaseUid: 1, group: 0 }
  const stage = {
    engines,
    acknowledged: new Set<number>(),
    recorded: [] as string[],
    clients: { at: 'old' } as Stage['clients'],
    looked: [] as Stage['looked'],
    mayServe: () => orders.mayBeGiven(group),
  }
  const tick = () => pass(stage, plot, pick)
  for (let n = 0; n < 8; n++) tick()

  let left = plot.death ?? Number.POSITIVE_INFINITY
  const effect = createEffect(() => {
    left -= 1
    if (left < 0) throw new Died('the server was killed')
  })
  const connect = (id: number) =>
    connectionTo(id, engines, { tick, pick, plot, time, isDead: () => left < 0 })
  const others = engines.slice(2).map((_, n) => connect(n + 3))
  const successorRecord = { host: '', port: SUCCESSOR, tlsPort: null }
  const record = (what: string) => () => effect(what, async () => void stage.recorded.push(what))
  return {
    ...stage,
    tick,
    // A plan chooses no successor that has failed to carry out a command.
    role: {
      primary: connect(OLD),
      successor: connect(SUCCESSOR),
      others,
      build,
      group: 0,
      from: OLD,
      to: SUCCESSOR,
      successorRecord,
      inCluster: plot.inCluster,
      errorReplies: 0,
      orders: ordersOf(orders, group),
    },
    ports: {
      effect,
      move: plot.inCluster
        ? null
        : moving({ primary: connect(OLD), successor: connect(SUCCESSOR), others }, effect, time),
      takeovers: createTakeovers(time),
      time,
      now: () => 0,
      clients: {
        giveUpBlocked: async () => undefined,
        hold: () => effect('hold', async () => hold(stage, plot)),
        messagesArrived: async () => undefined,
        carryScripts: async () => undefined,
      },
      settings: settingsOf(stage),
      record: {
        async intend() {
          await record('intend')()
          orders.begin(group)
        },
        abandon: record('abandon'),
        serving: record('serving'),
        moved: record('moved'),
        history: record('history'),
        cut: async () => undefined,
      },
    },
  }
}

/** Carries out the order of a move as the agent does, which ends with the server's connection. */
function moving(
  members: globalThis.Pick<RoleToMove, 'primary' | 'successor' | 'others'>,
  effect: Effect,
  { elapsed }: VirtualTime,
): Move {
  let followAt: Address = { host: '', port: 0 }
  return {
    order(terms, { give: onGiven }) {
      followAt = terms.followAt
      const until = elapsed() + terms.validForMs
      return moveRole({ ...members, build, errorReplies: 0, until, onGiven }, { effect, elapsed })
    },
    follow: () =>
      effect(
        'follow',
        async () => void (await members.primary.call('REPLICAOF', followAt.host, followAt.port)),
      ),
  }
}

function settingsOf({ looked, clients }: LooksAt): HandoverPorts['settings'] {
  let isAhead = false
  const look = async () => {
    if (!isAhead) looked.push(clients.at)
    isAhead = false
  }
  const readAhead = () => {
    looked.push(clients.at)
    isAhead = true
  }
  return { carry: look as () => Promise<undefined>, readAhead, carryToSuccessor: look }
}
type LooksAt = globalThis.Pick<Stage, 'looked' | 'clients'>

function ordersOf(
  { give, refused }: globalThis.Pick<ReturnType<typeof createOrdersToServe>, 'give' | 'refused'>,
  group: { readonly databaseUid: number; readonly group: number },
): RoleToMove['orders'] {
  return { give: () => give(group), refused: () => refused(group), raiseEpoch: async () => undefined }
}

function at(engines: readonly Engine[], id: number): Engine {
  const engine = engines[id - 1]
  if (engine === undefined) throw new Error(`there is no shard ${id}`)
  return engine
}

function hold(
  { engines, clients, recorded }: globalThis.Pick<Stage, 'engines' | 'clients' | 'recorded'>,
  { trouble }: Plot,
): HeldClients | NotHeld {
  if (trouble === 'clients in the way')
    return { code: 'clients_busy', why: 'a request does not end', afterMs: 100, cut: 0 }
  clients.at = 'held'
  const letGo = (to: 'old' | 'successor') => {
    if (at(engines, to === 'old' ? OLD : SUCCESSOR).role !== 'primary')
      throw new Error(`clients were let go to the ${to} one, which is no primary`)
    if (to === 'successor' && !recorded.includes('serving'))
      throw new Error('the new primary is not on record yet')
    clients.at = to
  }
  return {
    cut: 0,
    waited: () => null,
    release: async () => letGo('old'),
    moveToSuccessor: async () => {
      letGo('successor')
      return 1
    },
  }
}

function pass(
  { engines, acknowledged }: { readonly engines: readonly Engine[]; readonly acknowledged: Set<number> },
  { inCluster, trouble }: Plot,
  pick: Pick,
): void {
  const isLeaky = trouble === 'writes get through' && !inCluster
  const takers = engines.filter(({ role, paused }) => role === 'primary' && (!paused || isLeaky))
  if (takers.length > 1) throw new Error('two shards take writes')
  for (const taker of takers) {
    if (pick(2) === 0) continue
    const id = acknowledged.size + 1
    write(taker, id)
    acknowledged.add(id)
  }
  const [old, successor] = [at(engines, OLD), at(engines, SUCCESSOR)]
  // In cluster mode the old primary learns about its successor after some time.
  if (inCluster && successor.role === 'primary' && pick(4) === 0)
    for (const other of engines) if (other !== successor) follow(other, SUCCESSOR, [])
  for (const engine of engines) {
    // Port 0: a demoted engine that has not got its order to follow.
    if (!engine.primary || pick(3) === 0) continue
    if (engine === successor && trouble === 'stuck stream' && old.offset > 5) continue
    const stumbles = () => engine === successor && trouble.endsWith('successor') && successor.offset > 5
    replicate(engine, at(engines, engine.primary), pick, { stumbles, reads: () => true })
  }
}

/** Answers as an engine does, one command after the other, and meanwhile time passes in the world. */
function connectionTo(
  id: number,
  engines: readonly Engine[],
  {
    tick,
    pick,
    plot,
    time,
    isDead,
  }: {
    readonly tick: () => void
    readonly pick: Pick
    readonly plot: Plot
    readonly time: VirtualTime
    readonly isDead: () => boolean
  },
): EngineConnection {
  const engine = at(engines, id)
  let last: Promise<unknown> = Promise.resolve()
  const ask = <T>(answer: () => T): Promise<T> => {
    if (isDead()) return Promise.reject(new Died('the server is dead'))
    const reply = last.then(async () => {
      for (let n = pick(3); n > 0; n--) await Promise.resolve()
      tick()
      time.spend(pick(4) / 8)
      return answer()
    })
    last = reply.catch(() => undefined)
    return reply
  }
  return {
    address: { host: '', port: id },
    usable: true,
    info: (section) => ask(() => infoOf(engine, section, plot)),
    call: (...words) => ask(() => answerTo(words.map(String), { id, engines, time })),
    [Symbol.dispose]: () => undefined,
  }
}

function infoOf(engine: Engine, section: string | undefined, { trouble }: Plot): string {
  const { role, primary, link, replid, replid2, secondOffset, offset, errorReplies, log } = engine
  const isForgetful = trouble === 'forgetful successor'
  const kept = isForgetful ? log.filter((id) => id !== HOLE) : log
  if (section === 'keyspace') return `db0:keys=${kept.length},expires=0`
  if (section === 'stats') return `unexpected_error_replies:${isForgetful ? 0 : errorReplies}`
  const own = [`master_replid:${replid}`, `master_replid2:${replid2}`, `second_repl_offset:${secondOffset}`]
  const place =
    role === 'primary'
      ? ['role:master']
      : ['role:slave', `master_port:${primary}`, `master_link_status:${link}`]
  return [...place, ...own, `master_repl_offset:${offset}`].join('\n')
}

/** Of the cluster, only the epoch of a primary is asked for here. */
function answerTo(words: readonly string[], asked: Parameters<typeof carryOut>[1]) {
  return words[0] === 'CLUSTER' ? 'cluster_my_epoch:1' : carryOut(words, asked)
}

function carryOut(
  [command = '', ...args]: readonly string[],
  {
    id,
    engines,
    time,
  }: { readonly id: number; readonly engines: readonly Engine[]; readonly time: VirtualTime },
) {
  const engine = at(engines, id)
  const now = time.elapsed()
  switch (`${command} ${args[0] ?? ''}`) {
    case 'CLIENT PAUSE':
    case 'CLIENT UNPAUSE':
      engine.paused = args[0] === 'PAUSE'
      return 'OK'
    case 'CONFIG GET':
      return args[1] === 'tls-port' ? [] : [args[1] ?? '', '10']
    case 'CONFIG SET':
      if (args[1] === 'replica-read-only') engine.readOnly = args[2] === 'yes'
      return 'OK'
    case 'TIME ':
      return [Math.floor(now / 1_000), Math.floor((now % 1_000) * 1_000)]
    case 'REPLICAOF NO':
      promote(engine)
      return 'OK'
  }
  if (command === 'REPLICAOF')
    follow(
      engine,
      Number(args[1]),
      engines.filter(({ primary }) => primary === id),
    )
  // A takeover until a time; its first argument after the script and the number of keys.
  else if (command !== 'EVAL') throw new Error(`the model knows no ${command} ${args.join(' ')}`)
  else if (now > Number(args[2])) return 'late'
  else {
    promote(engine)
    return 'taken'
  }
  return 'OK'
}
