import { type EffectRunner, printable } from '@fairlead/engine'
import type { Action } from '../../core/state/action.ts'
import type { Database, ShardRecord } from '../../core/state/database.ts'
import type { Obstacle } from '../../core/state/obstacle.ts'
import { agentName } from '../../nodes/agent-name.ts'
import { limitBefore } from '../shards/keep-sync-room.ts'
import type { ActionRecords, Clock, EngineConnections, NodeAgent, ShardRecords } from '../turn/ports.ts'
import {
  type CarriedSettings,
  carryChanges,
  carryLateChanges,
  carrySettings,
  readSource,
  type SettingsPair,
} from './carry-settings.ts'

/** Ports for carrying users and settings from a primary to its followers. */
export type CarryingPorts = NodeAgent<'readBaseline'> &
  EngineConnections &
  EffectRunner &
  ShardRecords<'limitBefore'> &
  ActionRecords &
  Clock

/** Primary of a group, and shards that may replace it. */
export interface Followers {
  readonly database: Database
  readonly primary: ShardRecord
  readonly followers: readonly ShardRecord[]
  readonly action: Action | undefined
}

/**
 * Gives followers the users and settings set on their primary at run time, which engines do not replicate.
 * Returns an obstacle that names users who would be missing after a takeover, or undefined; other settings
 * that cannot be carried are a warning of the action.
 */
export async function carryToFollowers(
  about: Followers,
  ports: CarryingPorts,
): Promise<Obstacle | undefined> {
  // Without replicas an idle database is not asked.
  if (about.followers.length === 0) return undefined
  const pairs = await pairsOf(about, ports)
  const carried = await mapInOrder(pairs, (pair) => carrySettings({ ...pair, effect: ports.effect }))
  return await obstacleOf(carried, about, ports)
}

/** Carries changes again while the role moves to the follower `successor`: see HandoverSettings. */
export async function laterSettings(about: Followers, successor: number, ports: CarryingPorts) {
  const pairs = await pairsOf(about, ports)
  const { effect } = ports
  const late = pairs[about.followers.findIndex(({ id }) => id === successor)]
  let ahead: ReturnType<typeof readSource> | undefined
  const changesMissing = async (pair: SettingsPair) => {
    const reading = ahead ?? readSource(pair.from)
    ahead = undefined
    try {
      const carried = await carryLateChanges({ ...pair, effect }, await reading)
      return carried === undefined ? UNKNOWN : (await obstacleOf([carried], about, ports))?.why
    } catch {
      // The old primary has died, or was replaced.
      return UNKNOWN
    }
  }
  return {
    async carry(): Promise<Obstacle | undefined> {
      const carried = await mapInOrder(pairs, (pair) => carryChanges({ ...pair, effect }))
      return await obstacleOf(carried, about, ports)
    },
    readAhead(): void {
      ahead = late && readSource(late.from)
      ahead?.catch(() => undefined) // thrown again by carryToSuccessor, if the role moves
    },
    async carryToSuccessor(): Promise<void> {
      const missing = late && (await changesMissing(late))
      if (missing !== undefined && about.action !== undefined)
        await ports.actions.warn(about.action.uid, missing, new Date(ports.now()).toISOString())
    },
  }
}

async function pairsOf(
  { database, primary, followers }: Followers,
  ports: CarryingPorts,
): Promise<readonly SettingsPair[]> {
  const { settings: baseline } = await ports.agent.readBaseline({ params: { id: agentName(primary.id) } })
  const from = await ports.engines.connect(database, primary)
  const replicaLimit = await limitBefore(from, primary.id, ports)
  return mapInOrder(followers, async (follower) => ({
    from,
    fromBuild: primary.runs.build,
    inCluster: database.cluster,
    baseline,
    replicaLimit,
    to: await ports.engines.connect(database, follower),
    toBuild: follower.runs.build,
  }))
}

async function obstacleOf(
  carried: readonly CarriedSettings[],
  { action }: Followers,
  ports: CarryingPorts,
): Promise<Obstacle | undefined> {
  // Clients would notice a missing user, or one with fewer rights; a setting is for people to check.
  if (action !== undefined)
    for (const { obstacles } of carried)
      for (const words of obstacles.settings)
        await ports.actions.warn(action.uid, words, new Date(ports.now()).toISOString())
  const users = carried.flatMap(({ obstacles }) => obstacles.users)
  return users.length === 0 ? undefined : { code: 'users', why: printable(users.join('; '), LONGEST) }
}

async function mapInOrder<From, To>(
  all: readonly From[],
  act: (one: From) => Promise<To>,
): Promise<readonly To[]> {
  const done: To[] = []
  for (const one of all) done.push(await act(one))
  return done
}

const UNKNOWN = 'users and settings that were changed while the role moved may be missing'

/** Most characters about users in a message. */
const LONGEST = 2_000
