import { readFile } from 'node:fs/promises'
import type { Build } from '@fairlead/api'
import {
  beyondDatabase,
  connectEngine,
  createEffect,
  type EngineConnection,
  EngineError,
} from '@fairlead/engine'
import { describe, expect, test } from 'vitest'
import { isBeforeRedis } from '../../../../src/core/carry-over/acl-words.ts'
import { carrySettings, compareSettings } from '../../../../src/reconcile/carry-over/carry-settings.ts'
import {
  readBaseline,
  readParameters,
  readUserLines,
} from '../../../../src/reconcile/carry-over/read-settings.ts'
import {
  ADMIN_PASSWORD,
  builds as allBuilds,
  digest,
  type TestEngine,
  USER_PASSWORD,
} from '../../../engine.ts'
import { type Pair, startPair } from '../../../settings-pair.ts'

/** Redis 6 lacks most of the words below. */
const [old] = allBuilds.filter((build) => isBeforeRedis(build, '7.0'))
const builds = allBuilds.filter((build) => !isBeforeRedis(build, '7.0'))

/** What an operator does at run time, in words that every build knows. */
const users: Readonly<Record<string, string>> = {
  app: 'on >first >second ~app:* %R~shared:* %W~log:* &news:* +@read +@write -@dangerous +config|get',
  reports: 'on >reports allkeys -@all +@read +keys (%R~a:* +get) (~b:* &b +@all -@admin -set)',
  parked: 'off >parked ~* &* +@all -@admin -flushall -client|kill',
  open: 'on nopass skip-sanitize-payload ~open:* resetchannels +get +set +select|0 +memory|usage',
  limited: 'on >limited ~* &* +@all -@admin -@dangerous +info -config|set +client -@connection +auth',
}
const settings: Readonly<Record<string, string>> = {
  hz: '37',
  'slowlog-log-slower-than': '12345',
  'slowlog-max-len': '77',
  'notify-keyspace-events': 'Elgx',
  'client-output-buffer-limit': 'normal 1048576 524288 30 replica 268435456 67108864 61',
  save: '3600 7 60 1234',
  'maxmemory-samples': '9',
  'hash-max-ziplist-entries': '99',
  'slave-priority': '42',
  timeout: '600',
}

/** Commands of all kinds, with as many arguments as they need. */
const commands = [
  ...[
    'GET k',
    'SET k v',
    'KEYS *',
    'FLUSHALL',
    'INFO',
    'SAVE',
    'SORT k',
    'PUBLISH c m',
    'SELECT 0',
    'SELECT 1',
  ],
  ...['CONFIG GET hz', 'CONFIG SET hz 10', 'CLIENT ID', 'CLIENT KILL ID 1', 'CLIENT LIST', 'ACL WHOAMI'],
  ...[
    'MEMORY USAGE k',
    'MEMORY STATS',
    'DEBUG SLEEP 0',
    'REPLICAOF NO ONE',
    'EVAL x 0',
    'SCRIPT FLUSH',
    'HGET k f',
  ],
]

const none = { users: [], settings: [] }
const pairs = builds.flatMap((from) => builds.map((to) => ({ from, to })))
const named = pairs.map((pair) => ({ ...pair, title: `${nameOf(pair.from)} → ${nameOf(pair.to)}` }))

test.for(named)(
  'what was set at run time is found missing, carried, and the same: $title',
  async ({ from, to }) => {
    await using pair = await startPair(from, to)
    await setAtRunTime(pair.from.admin)
    const before = await readUserLines(pair.from.admin)

    const missing = await compareSettings(pair.pair)
    for (const what of [...Object.keys(users), 'hz', 'slowlog-max-len', 'save', 'client-output-buffer-limit'])
      expect(
        missing.filter((line) => line.includes(what)),
        what,
      ).toHaveLength(1)
    expect(missing).toHaveLength(Object.keys({ ...users, ...settings }).length)

    const { carried, obstacles } = await carry(pair)
    expect(obstacles).toEqual(none)
    expect(carried).toHaveLength(missing.length)
    expect(await compareSettings(pair.pair)).toEqual([])
    expect(await carry(pair)).toEqual({ carried: [], obstacles: none })
    expect(await readUserLines(pair.from.admin)).toEqual(before)

    // Not only Fairlead compares them: the engines do, too.
    expect(await verdicts(pair.to.admin)).toEqual(await verdicts(pair.from.admin))
    const [there, here] = [await readParameters(pair.to.admin), await readParameters(pair.from.admin)]
    for (const name of Object.keys(settings)) expect(there[name], name).toBe(here[name])
    for (const password of ['first', 'second']) await signIn(pair.to, 'app', password)
    await signIn(pair.to, 'open', 'anything')
    await expect(signIn(pair.to, 'app', 'third')).rejects.toThrow('WRONGPASS')
    await expect(signIn(pair.to, 'parked', 'parked')).rejects.toThrow('WRONGPASS')
    expect(await readFile(pair.to.aclfile, 'utf8')).toContain('user parked off')
  },
)

describe.runIf(old)('from redis 6', () => {
  // Fairlead revokes these in each turn (keep-within-reach.ts), so no user has them when a role moves.
  const withinReach = beyondDatabase({ flavour: 'redis', version: '6.0.16' }).flatMap(({ words }) => words)
  const rules: Readonly<Record<string, string>> = {
    app: 'on >first >second ~app:* +@read +@write -@dangerous',
    reports: 'on >reports allkeys -@all +@read +keys +select|0',
    parked: `off >parked ~* +@all -@admin ${withinReach.join(' ')} -flushall`,
    open: 'on nopass ~open:* +get +set +memory',
    limited: `on >limited ~* +@all -@admin ${withinReach.join(' ')} -@dangerous +info +client|id +client|setname -@connection +auth`,
  }
  test.for(builds)('users go to $flavour $version, and back when it is rolled back', async (newer) => {
    if (old === undefined) return
    await using pair = await startPair(old, newer)
    const harmless = 'client|setname client|getname client|id client|reply client|tracking acl|whoami'
    await pair.from.admin.call('ACL', 'SETUSER', 'default', ...harmless.split(' ').map((what) => `+${what}`))
    for (const [name, words] of Object.entries(rules))
      await pair.from.admin.call('ACL', 'SETUSER', name, ...words.split(' '))
    const before = await readUserLines(pair.from.admin)
    const { carried, obstacles } = await carry(pair)
    expect(obstacles).toEqual(none)
    expect(carried).toHaveLength(Object.keys(rules).length)
    for (const password of ['first', 'second']) await signIn(pair.to, 'app', password)

    const baseline = await readBaseline(pair.to.admin)
    const builds = { fromBuild: newer, toBuild: old, inCluster: false }
    const back = { ...pair, pair: { from: pair.to.admin, to: pair.from.admin, baseline, ...builds } }
    expect(await carry(back)).toEqual({ carried: [], obstacles: none })
    expect(await readUserLines(pair.from.admin)).toEqual(before)
  })
})

describe('between two shards', () => {
  const [oldest = { flavour: 'redis', version: '7.0.15' }] = builds
  const newest = builds.at(-1) ?? oldest

  const changes: readonly (readonly [command: string, named: string])[] = [
    ['ACL SETUSER app -get', 'user app'],
    ['ACL SETUSER app ~more:*', 'user app'],
    ['ACL SETUSER app >third', 'user app'],
    ['ACL SETUSER reports clearselectors', 'user reports'],
    ['ACL SETUSER parked on', 'user parked'],
    ['ACL DELUSER open', 'user open'],
    ['ACL SETUSER extra on', 'user extra'],
    ['ACL SETUSER default nopass', 'user default'],
    ['CONFIG SET hz 11', 'hz'],
    ['CONFIG SET replica-priority 1', 'replica-priority'],
    ['CONFIG SET notify-keyspace-events El', 'notify-keyspace-events'],
  ]
  test('each single difference is found and corrected', async () => {
    await using pair = await startPair(oldest, newest)
    await setAtRunTime(pair.from.admin)
    await carry(pair)
    for (const [command, what] of changes) {
      await send(pair.to.admin, command)
      const seen = await compareSettings(pair.pair)
      expect(seen, command).toHaveLength(1)
      expect(seen[0]).toContain(what)
      expect((await carry(pair)).obstacles, command).toEqual(none)
      expect(await compareSettings(pair.pair), command).toEqual([])
    }
  })

  test('without changes nothing is carried over', async () => {
    await using pair = await startPair(oldest, newest)
    const before = await readUserLines(pair.to.admin)
    expect(await carry(pair)).toEqual({ carried: [], obstacles: none })
    expect(await readUserLines(pair.to.admin)).toEqual(before)
  })

  test('a changed `default` and its passwords are kept, and clients with the old password can no longer sign in', async () => {
    await using pair = await startPair(oldest, newest)
    await send(pair.from.admin, 'ACL SETUSER default resetpass >another ~* resetkeys ~app:*')
    expect(await carry(pair)).toEqual({ carried: ['user default'], obstacles: none })
    await signIn(pair.to, 'default', 'another')
    await expect(signIn(pair.to, 'default', USER_PASSWORD)).rejects.toThrow('WRONGPASS')
    expect(await send(pair.to.admin, 'ACL DRYRUN default GET other')).not.toBe('OK')
  })

  test('without a baseline users are carried, settings are not, and a warning says so', async () => {
    await using pair = await startPair(oldest, newest)
    await setAtRunTime(pair.from.admin)
    const blind = { ...pair.pair, baseline: null }
    const { carried, obstacles } = await carrySettings({ ...blind, effect: createEffect(() => undefined) })
    expect(carried).toEqual(
      Object.keys(users)
        .toSorted()
        .map((name) => `user ${name}`),
    )
    expect(obstacles).toEqual({
      users: [],
      settings: [expect.stringContaining('are not known: only users are carried over')],
    })
    expect(await compareSettings(blind)).toEqual(obstacles.settings)
  })

  test('what the older build does not have is named', async () => {
    await using pair = await startPair(newest, oldest)
    await send(pair.from.admin, 'CONFIG SET commandlog-reply-larger-than 7')
    await send(pair.from.admin, 'ACL SETUSER watcher on +get +commandlog|get')
    expect(await carry(pair)).toEqual({
      carried: ['user watcher'],
      obstacles: {
        users: [],
        settings: [
          `user watcher: it may use commandlog|get, which ${nameOf(oldest)} does not have`,
          `commandlog-reply-larger-than was set at run time, and ${nameOf(oldest)} has no such parameter`,
        ],
      },
    })
  })

  test('what the engine refuses is an obstacle, the rest is carried, and no message contains a secret', async () => {
    await using pair = await startPair(oldest, newest)
    await setAtRunTime(pair.from.admin)
    const effects: string[] = []
    const { carried, obstacles } = await carrySettings({
      ...pair.pair,
      to: refusing(pair.to.admin, ['app', 'hz']),
      effect: createEffect((_, name) => void effects.push(name)),
    })
    expect(obstacles).toEqual({
      users: [expect.stringMatching(/^user app is missing .*: the engine refuses it$/)],
      settings: [
        expect.stringMatching(
          /^hz differs from the value set .*: the engine refuses it \(ERR not this one\)$/,
        ),
      ],
    })
    expect(carried).toContain('user reports')
    expect(carried).not.toContain('user app')
    const told = JSON.stringify({ carried, obstacles, effects })
    for (const secret of ['first', USER_PASSWORD].flatMap((password) => [password, digest(password)]))
      expect(told).not.toContain(secret)
  })
})

async function setAtRunTime(admin: EngineConnection): Promise<void> {
  for (const [name, rules] of Object.entries(users))
    await admin.call('ACL', 'SETUSER', name, ...(rules.match(/\([^)]*\)|\S+/g) ?? []))
  for (const [name, value] of Object.entries(settings)) await admin.call('CONFIG', 'SET', name, value)
}

function carry({ pair }: Pair) {
  return carrySettings({ ...pair, effect: createEffect(() => undefined) })
}

/** What the engine itself answers for each user and command. */
async function verdicts(admin: EngineConnection): Promise<Readonly<Record<string, boolean>>> {
  const found: Record<string, boolean> = {}
  for (const name of [...Object.keys(users), 'default'])
    for (const command of commands.flatMap((line) => [
      line,
      line.replace(' k', ' app:k'),
      line.replace(' k', ' b:k'),
    ]))
      found[`${name}: ${command}`] = (await send(admin, `ACL DRYRUN ${name} ${command}`)) === 'OK'
  return found
}

/** An engine that refuses every command about these, and quotes the arguments, as engines do. */
function refusing(engine: EngineConnection, names: readonly string[]): EngineConnection {
  return {
    ...engine,
    usable: true,
    call(command, ...args) {
      if (!args.some((each) => names.includes(String(each))) || args[0] === 'GET')
        return engine.call(command, ...args)
      const quoted =
        command === 'ACL' ? ` in modifier '${args.find((each) => String(each).startsWith('#'))}'` : ''
      return Promise.reject(new EngineError(`ERR not this one${quoted}`))
    },
  }
}

/** From a connection of the administrator: connecting sends a PING, which not every user may send. */
async function signIn({ admin }: TestEngine, username: string, password: string): Promise<void> {
  const login = { username: 'fairlead', password: ADMIN_PASSWORD }
  using connection = await connectEngine({
    address: admin.address,
    login,
    connectTimeoutMs: 20_000,
    commandTimeoutMs: 20_000,
  })
  await connection.call('AUTH', username, password)
}

function send(admin: EngineConnection, line: string) {
  const [command = '', ...args] = line.split(' ')
  return admin.call(command, ...args)
}

function nameOf({ flavour, version }: Build): string {
  return `${flavour} ${version}`
}
