import type { Build } from '@fairlead/api'
import { type EngineConnection, EngineError, printable } from '@fairlead/engine'
import { usersToCarry } from '../../core/carry-over/acl.ts'
import { type Parameters, settingsToCarry } from '../../core/carry-over/runtime-settings.ts'
import { type ReplicaLimit, SYNC_SETTING, withReplicaLimit } from '../../core/carry-over/sync-room.ts'
import type { Effect } from '../turn/effect.ts'
import { inPieces } from '../turn/in-pieces.ts'
import { readAclDialect, readParameters, readUserLines } from './read-settings.ts'

/** The shard whose users and settings count, and the one that is to have them too. */
export interface SettingsPair {
  readonly from: EngineConnection
  readonly fromBuild: Build
  readonly to: EngineConnection
  readonly toBuild: Build
  /** Is the database in cluster mode? */
  readonly inCluster: boolean
  /** The parameters of the process of `from`, right after its start (readBaseline); null: not read then. */
  readonly baseline: Parameters | null
  /** The limit of the replicas' output buffer at `from` when no full sync runs; null or absent: the limit that `from` reports. */
  readonly replicaLimit?: ReplicaLimit | null
}

export interface CarriedSettings {
  /** What was done: names of users and parameters. */
  readonly carried: readonly string[]
  readonly obstacles: Different
}

/** What is still different, and why, as sentences. Without values: they may be secret. */
export interface Different {
  readonly users: readonly string[]
  /** Everything else: parameters, and files of users. */
  readonly settings: readonly string[]
}

/**
 * Gives the shard `to` the users and the settings that were set on `from` at run time: engines replicate
 * neither. Idempotent; `from` is only read. Throws EngineUnreachable; what an engine refuses is an obstacle.
 */
export async function carrySettings({
  effect,
  ...pair
}: SettingsPair & { readonly effect: Effect }): Promise<CarriedSettings> {
  const orders = await compare(pair)
  if (orders.differences.length === 0) return { carried: [], obstacles: orders.obstacles }
  const refusals = new Map<string, string>()
  const carried: Difference[] = []
  for (const difference of orders.differences) {
    const { kind, subject, order } = difference
    const [command, ...args] = order
    const why = await refusalOf(() => effect(kind, () => pair.to.call(command ?? '', ...args)))
    if (why === undefined) carried.push(difference)
    else refusals.set(subject, explainRefusal(why, args))
  }
  const isUserCarried = carried.some(isOfUser)
  const unsaved = isUserCarried && orders.keepsUsersInFile ? await saveUsers(pair.to, effect) : []
  const left = await compare(pair)
  const describe = ({ subject, text }: Difference) => `${text}${refusals.get(subject) ?? ''}`
  return {
    carried: carried.map(({ subject }) => subject),
    obstacles: {
      users: [...left.obstacles.users, ...left.differences.filter(isOfUser).map(describe)],
      settings: [
        ...left.obstacles.settings,
        ...left.differences.filter((each) => !isOfUser(each)).map(describe),
        ...unsaved,
      ],
    },
  }
}

function isOfUser({ kind }: Difference): boolean {
  return kind !== 'carry-setting'
}

/** Which users and run-time settings of `from` are missing or different at `to`, as sentences. Changes nothing. */
export async function compareSettings(pair: SettingsPair): Promise<readonly string[]> {
  const { differences, obstacles } = await compare(pair)
  return [...obstacles.users, ...obstacles.settings, ...differences.map(({ text }) => text)]
}

interface Difference {
  /** The name of its effect. */
  readonly kind: 'carry-user' | 'remove-user' | 'carry-setting'
  /** "user app", "setting hz". */
  readonly subject: string
  readonly text: string
  /** The command that removes the difference. */
  readonly order: readonly string[]
}

async function compare(pair: SettingsPair): Promise<{
  readonly differences: readonly Difference[]
  readonly obstacles: Different
  readonly keepsUsersInFile: boolean
}> {
  const [raised, target] = await Promise.all([readParameters(pair.from), readParameters(pair.to)])
  const source = asBefore(raised, pair.replicaLimit ?? null)
  const users = await compareUsers(pair)
  const settings = compareParameters(pair, source, target)
  return {
    differences: [...users.differences, ...settings.differences],
    obstacles: { users: users.obstacles, settings: settings.obstacles },
    keepsUsersInFile: (target['aclfile'] ?? '') !== '',
  }
}

function asBefore(parameters: Parameters, limit: ReplicaLimit | null): Parameters {
  const text = parameters[SYNC_SETTING]
  if (limit === null || text === undefined) return parameters
  return { ...parameters, [SYNC_SETTING]: withReplicaLimit(text, limit) }
}

async function compareUsers({ from, fromBuild, to, toBuild, inCluster }: SettingsPair) {
  const [source, target, fromDialect, toDialect] = await Promise.all([
    readUserLines(from),
    readUserLines(to),
    readAclDialect(from, fromBuild),
    readAclDialect(to, toBuild),
  ])
  const places = { from: fromDialect, to: toDialect, inCluster }
  const { set, remove, obstacles } = await inPieces(usersToCarry(source, target, places))
  const changed = set.map(({ name, rules }) => ({
    kind: 'carry-user' as const,
    subject: `user ${printable(name)}`,
    text: `user ${printable(name)} is missing or has other rights on ${place(to)}`,
    order: ['ACL', 'SETUSER', name, 'reset', ...rules],
  }))
  const gone = remove.map((name) => ({
    kind: 'remove-user' as const,
    subject: `user ${printable(name)}`,
    text: `user ${printable(name)} is still on ${place(to)}, and no longer on ${place(from)}`,
    order: ['ACL', 'DELUSER', name],
  }))
  return { differences: [...changed, ...gone], obstacles: toTell(obstacles) }
}

function compareParameters(
  { from, to, toBuild, baseline }: SettingsPair,
  source: Parameters,
  target: Parameters,
) {
  if (baseline === null) {
    const why = `the settings made at run time on ${place(from)} are not known: only users are carried over`
    return { differences: [], obstacles: [why] }
  }
  const { set, unknown, left } = settingsToCarry(source, baseline, target)
  const build = `${toBuild.flavour} ${toBuild.version}`
  return {
    differences: set.map(([name, value]) => ({
      kind: 'carry-setting' as const,
      subject: `setting ${printable(name)}`,
      text: `${printable(name)} differs from the value set at run time on ${place(from)}`,
      order: ['CONFIG', 'SET', name, value],
    })),
    obstacles: toTell([
      ...unknown.map((name) => `${name} was set at run time, and ${build} has no such parameter`),
      ...left.map(
        (name) => `${name} was set at run time, and is bound to the process: set it on ${place(to)} by hand`,
      ),
    ]),
  }
}

/** These sentences contain names that an engine reports, which may be any text, and there may be very many. */
function toTell(obstacles: readonly string[]): readonly string[] {
  const told = obstacles.slice(0, MOST_TOLD).map((each) => printable(each))
  return obstacles.length > MOST_TOLD
    ? [...told, `and ${obstacles.length - MOST_TOLD} more like these`]
    : told
}

const MOST_TOLD = 50

/** So that ACL LOAD, or a start on the same file, finds them. The agent writes the file again at each start. */
async function saveUsers(to: EngineConnection, effect: Effect): Promise<readonly string[]> {
  const why = await refusalOf(() => effect('save-users', () => to.call('ACL', 'SAVE')))
  return why === undefined ? [] : [`the users on ${place(to)} cannot be written to its file`]
}

/** The engine's words when it refuses a command; undefined when it obeys. */
async function refusalOf(act: () => Promise<unknown>): Promise<string | undefined> {
  try {
    await act()
    return undefined
  } catch (cause) {
    if (cause instanceof EngineError) return cause.message
    throw cause
  }
}

/** The engine's error text, unless it quotes an argument of the command: that may be a password or another secret. */
function explainRefusal(why: string, args: readonly string[]): string {
  const [, , ...given] = args
  // Nothing is known about the part that was cut off.
  const quotes = why.endsWith('…') || given.some((each) => each !== '' && why.includes(printable(each)))
  return quotes ? ': the engine refuses it' : `: the engine refuses it (${why})`
}

function place({ address }: EngineConnection): string {
  return `${address.host}:${address.port}`
}
