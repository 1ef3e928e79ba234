/** Connections to the engines of the tests' world: they answer like engines, and time passes in the world. */
import { type EngineConnection, EngineError, EngineUnreachable, type Reply } from '@fairlead/engine'
import { writeTo } from './clients.ts'
import { type Engine, follow, freshName, pauseFor, promote, replicate, save } from './engines.ts'
import { hearOfOwner } from './gossip.ts'
import { nodeOf } from './look.ts'
import { endPauses, stallsAt } from './processes.ts'
import { claimSlots, liveOf, type Member, memberOf, type Team, type World } from './world.ts'

/** How long a stalled process is waited for, as in connection.ts. */
const CONNECTS_WITHIN_MS = 500
const ANSWERS_WITHIN_MS = 2_000

/** Opens connections for one server; `refuse` throws when that server is dead. */
export function connectionsOf(world: World, refuse: () => void) {
  const known = new WeakMap<Engine, EngineConnection>()
  return async (id: number): Promise<EngineConnection> => {
    refuse()
    const member = memberOf(world, id)
    const engine = member?.engine ?? null
    if (member === undefined || engine === null) throw new EngineUnreachable(`shard ${id} is not there`)
    if (member.stall !== null) {
      await world.time.pause(CONNECTS_WITHIN_MS)
      throw new EngineUnreachable(`shard ${id} does not answer`)
    }
    const before = known.get(engine)
    const connection = before?.usable ? before : connectionTo(world, member, engine, refuse)
    known.set(engine, connection)
    return connection
  }
}

function connectionTo(world: World, member: Member, engine: Engine, refuse: () => void): EngineConnection {
  let last: Promise<unknown> = Promise.resolve()
  let isBroken = false
  const ask = <T>(answer: () => T): Promise<T> => {
    refuse()
    const reply = last.then(async () => {
      if (!world.isStill) {
        if (world.pick(3) === 0) await Promise.resolve()
        breathe(world, member.group)
      }
      refuse()
      try {
        if (isBroken) throw new EngineUnreachable(`the connection to shard ${member.id} is broken`)
        await reach(world, member, engine)
        breakSometime(world, member, answer)
      } catch (cause) {
        isBroken = true
        throw cause
      }
      return answer()
    })
    last = reply.catch(() => undefined)
    return reply
  }
  return {
    address: { host: '', port: member.id },
    get usable() {
      return !isBroken && member.engine === engine
    },
    info: async () => ask(() => infoOf(engine)),
    call: async (...words) => ask(() => carryOut(words.map(String), { world, member, engine })),
    [Symbol.dispose]: () => undefined,
  }
}

async function reach(world: World, member: Member, engine: Engine): Promise<void> {
  if (member.engine === engine && member.stall === null) return
  if (member.engine === engine) await world.time.pause(ANSWERS_WITHIN_MS)
  throw new EngineUnreachable(`shard ${member.id} does not answer any more`)
}

/** The connection ends, and it is not known whether the engine has carried out what was asked. */
function breakSometime(world: World, { id }: Member, answer: () => unknown): void {
  if (world.isStill || world.breaks === 0 || world.pick(10) > 0) return
  world.breaks -= 1
  if (world.pick(2) === 0) answer()
  throw new EngineUnreachable(`the connection to shard ${id} broke`)
}

/** The time of an answer. In that time clients write, the stream flows and shards learn about each other. */
function breathe(world: World, team: Team): void {
  world.time.spend(world.pick(4) / 8)
  endPauses(world, team)
  if (world.pick(6) === 0) writeTo(world, team)
  for (const { engine, stall } of team.members) {
    if (engine === null || stall !== null || engine.link === 'down' || world.pick(2) === 0) continue
    const source = team.members.find(({ id }) => id === engine.primary)?.engine ?? null
    replicate(engine, source, world.pick, world)
  }
  if (world.cluster && world.pick(4) === 0) hearOfOwner(world, team)
}

function infoOf(engine: Engine): string {
  const { role, primary, link, syncing, replid, replid2, secondOffset, offset } = engine
  const isOn = (is: boolean) => (is ? '1' : '0')
  const fields = {
    role: role === 'replica' ? 'slave' : 'master',
    ...(role === 'replica' && {
      master_host: '',
      master_port: primary,
      master_link_status: link,
      master_sync_in_progress: isOn(syncing),
    }),
    master_replid: replid,
    master_replid2: replid2,
    second_repl_offset: secondOffset,
    master_repl_offset: offset,
    run_id: engine.runId,
    unexpected_error_replies: engine.errorReplies,
    db0: `keys=${engine.log.length},expires=0`,
    used_memory: 1e6,
    maxmemory: 0,
    maxmemory_policy: 'noeviction',
    uptime_in_seconds: 60,
    repl_backlog_size: 1e9,
    repl_backlog_active: isOn(engine.streamed),
    aof_enabled: isOn(engine.aof !== 'off'),
    aof_rewrite_in_progress: isOn(engine.aof === 'rewriting'),
    aof_last_bgrewrite_status: 'ok',
    rdb_bgsave_in_progress: isOn(engine.saving !== null),
    rdb_saves: 0,
  }
  return Object.entries(fields)
    .map(([name, value]) => `${name}:${value}`)
    .join('\n')
}

interface Asked {
  readonly world: World
  readonly member: Member
  readonly engine: Engine
}

const followersOf = (team: Team, id: number) =>
  liveOf(team).flatMap(({ engine }) => (engine !== null && engine.primary === id ? [engine] : []))

function carryOut([command = '', ...args]: readonly string[], asked: Asked): Reply {
  const { world, member, engine } = asked
  const [first = '', second = ''] = args
  switch (`${command} ${/^[A-Z]/.test(first) ? first : ''}`.trim()) {
    case 'CLIENT PAUSE':
      pauseFor(engine, world.time.elapsed() + Number(second))
      return 'OK'
    case 'CLIENT UNPAUSE':
      engine.paused = false
      return 'OK'
    case 'CONFIG GET':
      return second === 'repl-ping-replica-period' ? [second, '10'] : []
    case 'CONFIG SET':
      if (second === 'appendonly' && engine.aof === 'off') engine.aof = 'rewriting'
      return 'OK'
    case 'TIME': {
      const now = world.time.elapsed()
      return [Math.floor(now / 1_000), Math.round((now % 1_000) * 1_000)]
    }
    case 'BGSAVE':
      engine.saving ??= save(engine)
      return 'OK'
    case 'REPLICAOF NO':
      // It carries out the command when it resumes.
      if (stallsAt(world, member)) throw new EngineUnreachable(`shard ${member.id} does not answer any more`)
      serve(asked)
      return 'OK'
    case 'REPLICAOF':
      follow(engine, Number(second), followersOf(member.group, member.id))
      return 'OK'
    // A takeover until a time; its first argument after the script and the number of keys.
    case 'EVAL':
    case 'EVAL LOCAL':
      if (world.time.elapsed() > Number(args[2])) return 'late'
      serve(asked)
      return 'taken'
    case 'WAIT':
      return 0
    case 'BGREWRITEAOF':
      return 'OK'
    case 'ACL LIST':
    case 'MODULE LIST':
    case 'COMMAND':
      return []
    default:
      if (command === 'EVAL') return carryOut(['EVAL LOCAL', ...args], asked)
      if (command === 'CLUSTER') return inCluster([first, ...args.slice(1)], asked)
      return unknown(`${command} ${args.join(' ')}`, asked)
  }
}

/** For a command that no step has sent so far: it has to be added to the model first. */
function unknown(command: string, { world }: Asked): never {
  world.fault ??= `the model knows no ${command}`
  throw new Error(world.fault)
}

function serve({ member, engine }: Asked): void {
  promote(engine)
  claimSlots(member.group, member)
}

const nodeIn = (name: string) => Number(name.replace('node-', ''))

function inCluster([command = '', first = '', second = '']: readonly string[], asked: Asked): Reply {
  const { world, member, engine } = asked
  // A follower without an id of its shard that was read from the file is counted to no shard, for good.
  const isCounted = ({ id, revision }: Member) =>
    engine.known.has(id) && (id === member.id || revision !== world.withoutShardIds || !engine.ofFile.has(id))
  switch (command) {
    case 'MYID':
      return `node-${member.id}`
    case 'NODES':
      return nodesOf(asked)
    case 'INFO':
      return `cluster_state:ok\ncluster_my_epoch:${member.epoch}`
    case 'SET-CONFIG-EPOCH':
      return 'OK'
    case 'SHARDS':
      return [member.group.members.filter(isCounted).map(({ id }) => `node-${id}`)]
    case 'MEET':
      engine.greeted = new Set([...engine.greeted, Number(second)])
      return 'OK'
    case 'ADDSLOTS':
      Object.assign(engine, { role: 'primary', paused: false, unheard: false })
      claimSlots(member.group, member)
      return 'OK'
    case 'REPLICATE':
      if (!engine.known.has(nodeIn(first))) throw new EngineError(`ERR Unknown node ${first}`)
      if (engine.role === 'primary') throw new EngineError('ERR To set a master the node must be empty')
      follow(engine, nodeIn(first), followersOf(member.group, member.id))
      return 'OK'
    case 'FORGET':
      forget(nodeIn(first), engine)
      return 'OK'
    default:
      return unknown(`CLUSTER ${command}`, asked)
  }
}

function forget(gone: number, engine: Engine): void {
  if (engine.primary === gone) throw new EngineError("ERR Can't forget my master!")
  const isKnown = engine.known.has(gone)
  engine.banned = new Set([...engine.banned, gone])
  engine.known = new Set([...engine.known].filter((one) => one !== gone))
  if (!isKnown) throw new EngineError(`ERR Unknown node node-${gone}`)
}

/** CLUSTER NODES: a node reports the last news that it got about the others, and its own present state. */
function nodesOf({ world, member, engine }: Asked): string {
  const known = [...engine.known].map((id) => {
    const other = memberOf(world, id)
    const isMyself = id === member.id
    const { primary } = nodeOf(id, world, false)
    const serves = isMyself ? engine.role === 'primary' : other !== undefined && other.group.owner === id
    const slots = serves && other?.group.slots ? `${other.group.slots.first}-${other.group.slots.last}` : ''
    const flags = `${isMyself ? 'myself,' : ''}${primary === null ? 'master' : 'slave'}`
    return `node-${id} :${id}@${id + BUS} ${flags} ${primary ?? '-'} 0 0 ${other?.epoch ?? 0} connected ${slots}`
  })
  const greeted = [...engine.greeted].map(
    (id) => `${freshName()} :${id}@${id + BUS} handshake - 0 0 0 connected`,
  )
  return [...known, ...greeted].join('\n')
}

const BUS = 10_000
