import type { Build } from '@fairlead/api'
import { type Effect, type EngineConnection, printable } from '@fairlead/engine'
import { usersToCarry } from '../../core/carry-over/acl.ts'
import {
  type Changes,
  changesSince,
  type SourceSettings,
  userNameIn,
  withChanges,
} from '../../core/carry-over/changes.ts'
import { type Parameters, settingsToCarry } from '../../core/carry-over/runtime-settings.ts'
import { type ReplicaLimit, SYNC_SETTING, withReplicaLimit } from '../../core/carry-over/sync-room.ts'
import { inPieces } from '../turn/in-pieces.ts'
import { readAclDialect, readParameters, readUserLines } from './read-settings.ts'
import { explainRefusal, refusalOf } from './refusal-of.ts'

/** The shard whose users and settings count, and the shard that should get them. */
export interface SettingsPair {
  readonly from: EngineConnection
  readonly fromBuild: Build
  readonly to: EngineConnection
  readonly toBuild: Build
  /** True in cluster mode. */
  readonly inCluster: boolean
  /** Parameters of `from` right after its start (readBaseline); null if not read then. */
  readonly baseline: Parameters | null
  /** Replicas' output buffer limit of `from` without a full sync; null or absent: the reported limit. */
  readonly replicaLimit?: ReplicaLimit | null
}

/** The result: what was carried, and what could not be. */
export interface CarriedSettings {
  /** Names of users and parameters. */
  readonly carried: readonly string[]
  readonly obstacles: Different
}

/** Remaining differences and their reasons, as sentences without values, which may be secret. */
export interface Different {
  readonly users: readonly string[]
  /** All others: parameters, files of users, rights to commands that the target does not have. */
  readonly settings: readonly string[]
}

/**
 * Gives `to` the users and settings set on `from` at run time, because engines replicate neither. Idempotent;
 * only reads `from`. Throws EngineUnreachable; an engine's refusal is an obstacle.
 */
export async function carrySettings(parts: Carrying): Promise<CarriedSettings> {
  const { equal, ...done } = await carry(parts, null, MOST_ROUNDS)
  given.set(parts.to, { ...equal, from: parts.from })
  return done
}

/**
 * Carries changes on `from` since the last carry to `to`, and keeps changes on `to`. Without changes it costs
 * two requests to `from` and none to `to`. Throws EngineUnreachable.
 */
export async function carryChanges(parts: Carrying): Promise<CarriedSettings> {
  return (await carryOnlyChanges(parts, MOST_ROUNDS)) ?? carrySettings(parts)
}

/**
 * Like carryChanges, once `to` serves: only one round, and no look at its result, because clients of `to`
 * change users, too. `now`: state of `from`. Undefined if the last carry is unknown; then nothing is carried.
 */
export async function carryLateChanges(
  parts: Carrying,
  now: SourceSettings,
): Promise<CarriedSettings | undefined> {
  return carryOnlyChanges(parts, ONE_ROUND, async () => now)
}

/** Reads all users and settings. Throws EngineUnreachable. */
export async function readSource(from: EngineConnection): Promise<SourceSettings> {
  const [users, settings] = await Promise.all([readUserLines(from), readParameters(from)])
  return { users, settings }
}

async function carryOnlyChanges(
  parts: Carrying,
  rounds: number,
  read = () => readSource(parts.from),
): Promise<CarriedSettings | undefined> {
  const last = given.get(parts.to)
  if (last?.from !== parts.from) return undefined
  const now = await read()
  const changes = changesSince(last, now)
  if (changes.users.size === 0 && changes.settings.size === 0)
    return { carried: [], obstacles: { users: [], settings: [] } }
  const { equal, ...done } = await carry(parts, changes, rounds)
  // Later changes of others are for the next call.
  given.set(parts.to, { ...withChanges(now, equal, changes), from: parts.from })
  return done
}

type Carrying = SettingsPair & { readonly effect: Effect }

/** The source state at the last carry to each target. An entry is dropped with its connection. */
const given = new WeakMap<EngineConnection, SourceSettings & { readonly from: EngineConnection }>()

/** Carries these users and settings, or all (null). `equal`: the source state that the target has now. */
async function carry(
  { effect, ...parts }: Carrying,
  only: Changes | null,
  rounds: number,
): Promise<CarriedSettings & { readonly equal: SourceSettings }> {
  const pair = await withResets(parts)
  const carried: string[] = []
  let seen = await compare(pair, only)
  let equal = seen.source
  /** Orders of the last round, with the reason of refused ones. */
  let tried: ReadonlyMap<string, string | undefined> = new Map()
  let isUnsaved = false
  const isNew = ({ order }: Difference) => !tried.has(JSON.stringify(order))
  for (let round = 0; round < rounds && seen.differences.some(isNew); round += 1) {
    tried = await removeDifferences(pair.to, seen.differences, effect)
    for (const { kind, subject, order } of seen.differences) {
      if (tried.get(JSON.stringify(order)) !== undefined) continue
      if (!carried.includes(subject)) carried.push(subject)
      if (kind !== 'carry-setting') isUnsaved = true
    }
    equal = seen.source
    const refused = seen.differences.filter(({ order }) => tried.get(JSON.stringify(order)) !== undefined)
    seen = rounds === ONE_ROUND ? { ...seen, differences: refused } : await compare(pair, only)
  }
  const unsaved = isUnsaved && seen.keepsUsersInFile ? await saveUsers(pair.to, effect) : []
  if (!seen.differences.some(isNew)) equal = seen.source
  // A change since the last round is no obstacle: it is examined when the role moves.
  const left = seen.differences.filter((each) => !isNew(each))
  const describe = ({ order, text }: Difference) => `${text}${tried.get(JSON.stringify(order)) ?? ''}`
  return {
    carried,
    equal,
    obstacles: {
      users: [...seen.obstacles.users, ...left.filter(isOfUser).map(describe)],
      settings: [
        ...seen.obstacles.settings,
        ...left.filter((each) => !isOfUser(each)).map(describe),
        ...unsaved,
      ],
    },
  }
}

/** Gives each order. Returns the orders, with the reason of refused ones. */
async function removeDifferences(
  to: EngineConnection,
  differences: readonly Difference[],
  effect: Effect,
): Promise<ReadonlyMap<string, string | undefined>> {
  const orders = new Map<string, string | undefined>()
  for (const { kind, order } of differences) {
    const [command = '', ...args] = order
    const why = await refusalOf(() => effect(kind, () => to.call(command, ...args)))
    orders.set(JSON.stringify(order), why && explainRefusal(why, args))
  }
  return orders
}

/** Makes a parameter that was reset to its baseline value count as changed, too. */
async function withResets(pair: SettingsPair): Promise<SettingsPair> {
  const last = given.get(pair.to)
  if (last?.from !== pair.from || pair.baseline === null) return pair
  const { settings } = changesSince(last, { users: [], settings: await readParameters(pair.from) })
  const reset = [...settings].map((name) => [name, ''])
  return { ...pair, baseline: { ...pair.baseline, ...Object.fromEntries(reset) } }
}

/** Limit of rounds with new differences: another client is changing settings. */
const MOST_ROUNDS = 10
/** For a target that serves: see carryLateChanges. */
const ONE_ROUND = 1

function isOfUser({ kind }: Difference): boolean {
  return kind !== 'carry-setting'
}

/** Returns how users and run-time settings of `to` differ from `from`, as sentences. Changes nothing. */
export async function compareSettings(pair: SettingsPair): Promise<readonly string[]> {
  const { differences, obstacles } = await compare(pair, null)
  return [...obstacles.users, ...obstacles.settings, ...differences.map(({ text }) => text)]
}

interface Difference {
  /** Name of its effect. */
  readonly kind: 'carry-user' | 'remove-user' | 'carry-setting'
  /** For example "user app" or "setting hz". */
  readonly subject: string
  readonly text: string
  /** Command that removes the difference. */
  readonly order: readonly string[]
}

async function compare(
  pair: SettingsPair,
  only: Changes | null,
): Promise<{
  readonly differences: readonly Difference[]
  readonly obstacles: Different
  readonly keepsUsersInFile: boolean
  readonly source: SourceSettings
}> {
  const [raised, target, lines] = await Promise.all([
    readParameters(pair.from),
    readParameters(pair.to),
    readUserLines(pair.from),
  ])
  const all = asBefore(raised, pair.replicaLimit ?? null)
  const source = only === null ? all : onlyOf(all, only.settings)
  const users = await compareUsers(pair, lines, only?.users)
  const settings = compareParameters(pair, source, target)
  return {
    differences: [...users.differences, ...settings.differences],
    // Clients do not notice these: the command does not exist.
    obstacles: { users: users.obstacles, settings: [...users.lost, ...settings.obstacles] },
    keepsUsersInFile: (target['aclfile'] ?? '') !== '',
    source: { users: lines, settings: raised },
  }
}

function onlyOf(parameters: Parameters, names: ReadonlySet<string>): Parameters {
  return Object.fromEntries(Object.entries(parameters).filter(([name]) => names.has(name)))
}

function asBefore(parameters: Parameters, limit: ReplicaLimit | null): Parameters {
  const text = parameters[SYNC_SETTING]
  if (limit === null || text === undefined) return parameters
  return { ...parameters, [SYNC_SETTING]: withReplicaLimit(text, limit) }
}

async function compareUsers(
  { from, fromBuild, to, toBuild, inCluster }: SettingsPair,
  lines: readonly string[],
  only?: ReadonlySet<string>,
) {
  const [there, fromDialect, toDialect] = await Promise.all([
    readUserLines(to),
    readAclDialect(from, fromBuild),
    readAclDialect(to, toBuild),
  ])
  const isAsked = (line: string) => only === undefined || only.has(userNameIn(line))
  const [source, target] = [lines.filter(isAsked), there.filter(isAsked)]
  const places = { from: fromDialect, to: toDialect, inCluster }
  const { set, remove, obstacles, lost } = await inPieces(usersToCarry(source, target, places))
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
  return { differences: [...changed, ...gone], obstacles: toTell(obstacles), lost: toTell(lost) }
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

/** Cleans and limits sentences: names from an engine may be any text, and very many. */
function toTell(obstacles: readonly string[]): readonly string[] {
  const told = obstacles.slice(0, MOST_TOLD).map((each) => printable(each))
  return obstacles.length > MOST_TOLD
    ? [...told, `and ${obstacles.length - MOST_TOLD} more like these`]
    : told
}

const MOST_TOLD = 50

/** Saves users for ACL LOAD, or a start on the same file. The agent rewrites the file at each start. */
async function saveUsers(to: EngineConnection, effect: Effect): Promise<readonly string[]> {
  const why = await refusalOf(() => effect('save-users', () => to.call('ACL', 'SAVE')))
  return why === undefined ? [] : [`the users on ${place(to)} cannot be written to its file`]
}

function place({ address }: EngineConnection): string {
  return `${address.host}:${address.port}`
}
