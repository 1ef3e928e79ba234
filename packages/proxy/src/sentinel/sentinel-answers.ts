import { matchesPattern } from './sentinel-patterns.ts'
import type { Protocol, Reply } from './sentinel-reply.ts'

interface Address {
  readonly host: string
  readonly port: number
}

/** Addresses of a database's shards, for clients that connect to them directly. */
export interface SentinelDatabase {
  readonly name: string
  readonly primary: Address
  readonly replicas: readonly Address[]
}

/** Settings of one client. */
export interface SentinelSession {
  readonly id: number
  protocol: Protocol
  clientName: string
  readonly channels: Set<string>
  readonly patterns: Set<string>
}

/** Facts that are the same for every client. */
export interface SentinelWorld {
  readonly databases: readonly SentinelDatabase[]
  readonly port: number
  /** 40 hexadecimal digits, as in a Sentinel's name. */
  readonly id: string
  /** True if another client may subscribe: subscribers keep their places. */
  mayListen(): boolean
}

/** Replies to one command, in order. `ends`: the connection is closed after them. */
export interface Answer {
  readonly replies: readonly Reply[]
  readonly ends?: boolean
}

/** Clients choose commands by the engine's version; Valkey reports this one. */
const VERSION = '7.2.4'
const MOST_SUBSCRIPTIONS = 64
const LONGEST_SUBSCRIPTION = 256

/** Answers as a Sentinel that watches only these databases. Updates `session`. */
export function answer(words: readonly string[], session: SentinelSession, world: SentinelWorld): Answer {
  const [given = '', ...args] = words
  const name = given.toUpperCase()
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined
  if (command === undefined) return one({ error: `ERR unknown command '${printable(given)}'` })
  if (session.protocol === 2 && subscriptionsOf(session) > 0 && !whileSubscribed.has(name))
    return one({
      error: `ERR Can't execute '${name.toLowerCase()}': only (P)SUBSCRIBE / (P)UNSUBSCRIBE / PING / QUIT are allowed in this context`,
    })
  const { least, most = least, run } = command
  if (args.length < least || args.length > most)
    return one({ error: `ERR wrong number of arguments for '${name.toLowerCase()}' command` })
  const result = run(args, session, world)
  return typeof result === 'object' && result !== null && 'replies' in result ? result : one(result)
}

/** Returns the messages of a channel for this session: for its subscription and each matching pattern. */
export function messagesFor(session: SentinelSession, channel: string, text: string): readonly Reply[] {
  const direct = session.channels.has(channel) ? [{ push: ['message', channel, text] }] : []
  const matching = [...session.patterns].filter((pattern) => matchesPattern(pattern, channel))
  return [...direct, ...matching.map((pattern) => ({ push: ['pmessage', pattern, channel, text] }))]
}

interface Command {
  readonly least: number
  readonly most?: number
  readonly run: (args: readonly string[], session: SentinelSession, world: SentinelWorld) => Reply | Answer
}

const MANY = Number.POSITIVE_INFINITY
const ok: Reply = { status: 'OK' }
const whileSubscribed = new Set(['SUBSCRIBE', 'UNSUBSCRIBE', 'PSUBSCRIBE', 'PUNSUBSCRIBE', 'PING', 'QUIT'])

const commands: Readonly<Record<string, Command>> = {
  PING: { least: 0, most: 1, run: ([text], session) => pong(text, session) },
  HELLO: { least: 0, most: MANY, run: (args, session) => hello(args, session) },
  // There is no password: every login is accepted, because the answers are not secret on this machine.
  AUTH: { least: 1, most: 2, run: () => ok },
  CLIENT: { least: 1, most: MANY, run: ([word = '', ...rest], session) => client(word, rest, session) },
  INFO: { least: 0, most: MANY, run: (sections, _, world) => ({ verbatim: info(sections, world) }) },
  ROLE: { least: 0, run: (_, __, { databases }) => ['sentinel', databases.map(({ name }) => name)] },
  QUIT: { least: 0, run: () => ({ replies: [ok], ends: true }) },
  SENTINEL: { least: 1, most: MANY, run: ([word = '', ...rest], _, world) => sentinel(word, rest, world) },
  SUBSCRIBE: {
    least: 1,
    most: MANY,
    run: (args, session, world) => subscribe('subscribe', args, session, world),
  },
  PSUBSCRIBE: {
    least: 1,
    most: MANY,
    run: (args, session, world) => subscribe('psubscribe', args, session, world),
  },
  UNSUBSCRIBE: { least: 0, most: MANY, run: (args, session) => unsubscribe('unsubscribe', args, session) },
  PUNSUBSCRIBE: { least: 0, most: MANY, run: (args, session) => unsubscribe('punsubscribe', args, session) },
}

function one(reply: Reply): Answer {
  return { replies: [reply] }
}

function pong(text: string | undefined, session: SentinelSession): Reply {
  if (session.protocol === 2 && subscriptionsOf(session) > 0) return ['pong', text ?? '']
  return text ?? { status: 'PONG' }
}

function hello(args: readonly string[], session: SentinelSession): Reply {
  const [protocol = String(session.protocol), ...options] = args
  if (!/^\d{1,9}$/.test(protocol)) return { error: 'ERR Protocol version is not an integer or out of range' }
  if (protocol !== '2' && protocol !== '3') return { error: 'NOPROTO unsupported protocol version' }
  let { clientName } = session
  for (let at = 0; at < options.length; ) {
    const option = options[at]?.toUpperCase()
    if (option === 'AUTH' && at + 2 < options.length) at += 3
    else if (option === 'SETNAME' && at + 1 < options.length) {
      clientName = options[at + 1] ?? ''
      at += 2
    } else return { error: `ERR Syntax error in HELLO option '${printable(options[at] ?? '')}'` }
  }
  session.protocol = protocol === '3' ? 3 : 2
  session.clientName = clientName
  return {
    fields: [
      ['server', 'fairlead'],
      ['version', VERSION],
      ['proto', session.protocol],
      ['id', session.id],
      ['mode', 'sentinel'],
      ['modules', []],
    ],
  }
}

function client(given: string, args: readonly string[], session: SentinelSession): Reply {
  const word = given.toUpperCase()
  if (word === 'SETNAME' && args.length === 1) {
    session.clientName = args[0] ?? ''
    return ok
  }
  if (word === 'GETNAME' && args.length === 0) return session.clientName === '' ? null : session.clientName
  if (word === 'ID' && args.length === 0) return session.id
  // The answers do not depend on the library; most libraries send their name unasked.
  if (word === 'SETINFO' && args.length === 2) return ok
  return { error: `ERR unknown subcommand or wrong number of arguments for '${printable(given)}'` }
}

function info(asked: readonly string[], { databases, port, id }: SentinelWorld): string {
  const about = databases.map(
    ({ name, primary, replicas }, n) =>
      `master${n}:name=${name},status=ok,address=${primary.host}:${primary.port},slaves=${replicas.length},sentinels=1`,
  )
  const sections: Readonly<Record<string, readonly string[]>> = {
    Server: [
      `redis_version:${VERSION}`,
      'server_name:fairlead',
      'redis_mode:sentinel',
      `run_id:${id}`,
      `tcp_port:${port}`,
    ],
    Sentinel: [`sentinel_masters:${databases.length}`, 'sentinel_tilt:0', ...about],
  }
  const wanted = asked.map((section) => section.toLowerCase())
  const isWanted = (title: string) =>
    wanted.length === 0 ||
    wanted.some((word) => [title.toLowerCase(), 'default', 'all', 'everything'].includes(word))
  return Object.entries(sections)
    .filter(([title]) => isWanted(title))
    .map(([title, lines]) => [`# ${title}`, ...lines, ''].join('\r\n'))
    .join('\r\n')
}

function sentinel(given: string, args: readonly string[], world: SentinelWorld): Reply {
  const word = Object.hasOwn(newNames, given.toUpperCase())
    ? newNames[given.toUpperCase()]
    : given.toUpperCase()
  const wants = { MASTERS: 0, MYID: 0 }[word ?? ''] ?? 1
  const about = word === undefined || !Object.hasOwn(ofOne, word) ? undefined : ofOne[word]
  if (about === undefined && wants > 0)
    return {
      error: `ERR unknown subcommand '${printable(given)}'. There are MASTERS, MYID, ${Object.keys(ofOne).join(', ')}.`,
    }
  if (args.length !== wants)
    return { error: `ERR wrong number of arguments for 'sentinel|${given.toLowerCase()}' command` }
  if (word === 'MYID') return world.id
  if (about === undefined) return world.databases.map(describePrimary)
  const database = world.databases.find(({ name }) => name === args[0])
  if (database !== undefined) return about(database)
  return word === ADDRESS ? { missing: 'array' } : { error: 'ERR No such master with that name' }
}

/** Words that Valkey prefers since 8.1. */
const newNames: Readonly<Record<string, string>> = {
  'GET-PRIMARY-ADDR-BY-NAME': 'GET-MASTER-ADDR-BY-NAME',
  PRIMARIES: 'MASTERS',
  PRIMARY: 'MASTER',
}
const ADDRESS = 'GET-MASTER-ADDR-BY-NAME'

/** Subcommands about one database, by name. */
const ofOne: Readonly<Record<string, (database: SentinelDatabase) => Reply>> = {
  [ADDRESS]: ({ primary }) => [primary.host, String(primary.port)],
  MASTER: (database) => describePrimary(database),
  REPLICAS: (database) => describeReplicas(database),
  SLAVES: (database) => describeReplicas(database),
  // There is no other Sentinel on the node; each node's proxy answers for itself.
  SENTINELS: () => [],
  CKQUORUM: () => ({ status: 'OK 1 usable Sentinels. Quorum and failover authorization can be reached' }),
}

function describePrimary({ name, primary, replicas }: SentinelDatabase): Reply {
  return {
    fields: [
      ...describeAddress(name, primary, 'master'),
      ['config-epoch', '0'],
      ['num-slaves', String(replicas.length)],
      ['num-other-sentinels', '0'],
      ['quorum', '1'],
    ],
  }
}

function describeReplicas({ primary, replicas }: SentinelDatabase): Reply {
  return replicas.map((replica) => ({
    fields: [
      ...describeAddress(`${replica.host}:${replica.port}`, replica, 'slave'),
      ['master-link-status', 'ok'],
      ['master-host', primary.host],
      ['master-port', String(primary.port)],
      ['slave-priority', '100'],
      ['replica-announced', '1'],
    ],
  }))
}

function describeAddress(name: string, { host, port }: Address, role: string): (readonly [string, Reply])[] {
  return [
    ['name', name],
    ['ip', host],
    ['port', String(port)],
    ['runid', ''],
    ['flags', role],
    ['role-reported', role],
  ]
}

function subscriptionsOf({ channels, patterns }: SentinelSession): number {
  return channels.size + patterns.size
}

function subscribe(
  kind: 'subscribe' | 'psubscribe',
  names: readonly string[],
  session: SentinelSession,
  world: SentinelWorld,
): Answer {
  if (subscriptionsOf(session) === 0 && !world.mayListen())
    return one({ error: 'ERR max number of subscribed clients reached' })
  const set = kind === 'subscribe' ? session.channels : session.patterns
  if (subscriptionsOf(session) + names.length > MOST_SUBSCRIPTIONS)
    return one({ error: `ERR more than ${MOST_SUBSCRIPTIONS} subscriptions` })
  if (names.some(({ length }) => length > LONGEST_SUBSCRIPTION))
    return one({ error: `ERR a name longer than ${LONGEST_SUBSCRIPTION}` })
  const replies = names.map((name) => {
    set.add(name)
    return { push: [kind, name, subscriptionsOf(session)] }
  })
  return { replies }
}

function unsubscribe(
  kind: 'unsubscribe' | 'punsubscribe',
  given: readonly string[],
  session: SentinelSession,
): Answer {
  const set = kind === 'unsubscribe' ? session.channels : session.patterns
  const names = given.length > 0 ? given : [...set]
  if (names.length === 0) return one({ push: [kind, null, subscriptionsOf(session)] })
  const replies = names.map((name) => {
    set.delete(name)
    return { push: [kind, name, subscriptionsOf(session)] }
  })
  return { replies }
}

/** Cuts and cleans text for an error: one line of ASCII. */
function printable(text: string): string {
  return text.slice(0, 64).replace(/[^\x20-\x7e]/g, '?')
}
