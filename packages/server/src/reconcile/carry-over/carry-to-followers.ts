import { printable } from '@fairlead/engine'
import type { Action } from '../../core/state/action.ts'
import type { Database, ShardRecord } from '../../core/state/database.ts'
import type { Obstacle } from '../../core/state/obstacle.ts'
import { agentName } from '../../nodes/agent-name.ts'
import { warnOf } from '../records/note-action.ts'
import { limitBefore } from '../shards/keep-sync-room.ts'
import type {
  ActionRecords,
  Clock,
  EffectRunner,
  EngineConnections,
  NodeAgent,
  ShardRecords,
} from '../turn/ports.ts'
import { carrySettings } from './carry-settings.ts'

/** The ports for carrying users and settings from a primary to its followers. */
export type CarryingPorts = NodeAgent<'readBaseline'> &
  EngineConnections &
  EffectRunner &
  ShardRecords<'limitBefore'> &
  ActionRecords &
  Clock

/**
 * Gives followers the users and settings that were set on their primary at run time, which engines do not
 * replicate. Undefined when no user would be missing if a follower took over, else an obstacle that names the
 * user; other settings that cannot be carried over are a warning of the action.
 */
export async function carryToFollowers(
  parts: {
    readonly database: Database
    readonly primary: ShardRecord
    readonly followers: readonly ShardRecord[]
    readonly action: Action | undefined
  },
  ports: CarryingPorts,
): Promise<Obstacle | undefined> {
  const { database, primary, followers, action } = parts
  // An idle database without replicas is not asked what nothing needs.
  if (followers.length === 0) return undefined
  const { settings } = await ports.agent.readBaseline({ params: { id: agentName(primary.id) } })
  const from = await ports.engines.connect(database, primary)
  const replicaLimit = await limitBefore(from, primary.id, ports)
  const users: string[] = []
  for (const follower of followers) {
    const to = await ports.engines.connect(database, follower)
    const builds = { fromBuild: primary.runs.build, toBuild: follower.runs.build }
    const mode = { inCluster: database.cluster }
    const pair = { from, to, ...builds, ...mode, baseline: settings, replicaLimit, effect: ports.effect }
    const { obstacles } = await carrySettings(pair)
    users.push(...obstacles.users)
    // A client whose user is missing, or may do less, would notice; a setting is for people to look at.
    if (action !== undefined) for (const words of obstacles.settings) await warnOf(action, words, ports)
  }
  return users.length === 0 ? undefined : { code: 'users', why: printable(users.join('; '), LONGEST) }
}

/** The most characters that a message says about users. */
const LONGEST = 2_000
