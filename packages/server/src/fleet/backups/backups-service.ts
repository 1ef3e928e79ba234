import { type ErrorCode, type NodeBackup, Refusal } from '@fairlead/api'
import type { Actor } from '../../core/identity/access.ts'
import { describeBusy } from '../../core/requests/describe-busy.ts'
import type { Database, GroupRecord, ShardRecord } from '../../core/state/database.ts'
import { revisionOf } from '../../core/state/goal.ts'
import type { AuditCounter } from '../../identity/audit/audit-counter.ts'
import { type AgentLink, isDeclined } from '../../nodes/agent-link.ts'
import { agentName } from '../../nodes/agent-name.ts'
import type { Databases, DatabaseView } from '../databases/databases-service.ts'

export type Backups = ReturnType<typeof createBackups>

/** Begins, lists and deletes backups. The agent has them, with their state: the store knows none. */
export function createBackups(deps: {
  readonly databases: Pick<Databases, 'get'>
  readonly agent: Pick<AgentLink, 'startBackup' | 'reportBackups' | 'removeBackup'>
  readonly counter: Pick<AuditCounter, 'record'>
  readonly now: () => number
}) {
  const { databases, agent, counter } = deps
  const find = async (name: string, only: readonly number[] | null) => {
    const backup = (await list(only)).find((one) => one.name === name)
    if (backup === undefined) throw new Refusal('backup_not_exist', `there is no backup ${name}`)
    return backup
  }
  const list = async (only: readonly number[] | null): Promise<readonly NodeBackup[]> => {
    const all = await agent.reportBackups({}).catch(refuseAsAgent)
    return all.filter(({ database }) => only === null || only.includes(database.uid))
  }
  return {
    /** The newest first; `only` of these databases unless null. */
    list,
    /** Throws Refusal backup_not_exist, also if its database is not one of `only`. */
    get: find,

    /** Throws Refusal db_busy while another is made, or an action runs that may move a role. */
    async begin(uid: number, by: Actor): Promise<NodeBackup> {
      const view = await databases.get(uid)
      const { database, action } = view
      if (action !== undefined && action.phase !== 'window')
        throw new Refusal('db_busy', describeBusy(database.name, action))
      const primaries = database.groups.map((group) => primaryOf(group, view))
      const [first] = primaries
      if (first === undefined) throw new Refusal('unavailable', `database ${uid} has no shard`)
      const name = nameOf(database.name, deps.now())
      await counter.record({ type: 'bdb_backup_requested', by, databaseUid: uid, details: { backup: name } })
      const { build, modules } = first.runs
      const body = {
        name,
        database: describe({ ...database, build, modules }),
        modules: modules.map(({ sha256, name: loaded, args }) => ({ sha256, name: loaded, args: [...args] })),
        groups: database.groups.map(({ number, slots }, n) => {
          const primary = primaries[n] ?? first
          return { number, slots, primary: agentName(primary.id), replicas: replicasOf(primary, view) }
        }),
      }
      return await agent.startBackup({ body }).catch(refuseAsAgent)
    },

    /** Throws Refusal backup_not_exist, also if its database is not one of `only`. */
    async remove(name: string, only: readonly number[] | null, by: Actor): Promise<void> {
      const { database } = await find(name, only)
      const details = { backup: name }
      await counter.record({ type: 'bdb_backup_deleted', by, databaseUid: database.uid, details })
      await agent.removeBackup({ params: { name } }).catch(refuseAsAgent)
    },
  }
}

/** "orders-20261130-211500" */
function nameOf(database: string, now: number): string {
  const [day = '', time = ''] = new Date(now).toISOString().replaceAll(/[-:]/g, '').split('T')
  return `${database}-${day}-${time.slice(0, 6)}`
}

function primaryOf({ number, primaryShard }: GroupRecord, { database, shards }: DatabaseView): ShardRecord {
  const primary = shards.find(({ id }) => id === primaryShard)
  if (primary !== undefined) return primary
  throw new Refusal('unavailable', `no shard serves group ${number} of ${database.name}`)
}

/** Standbys of another build would write another format. */
function replicasOf(primary: ShardRecord, { shards }: DatabaseView): string[] {
  const same = (shard: ShardRecord) =>
    shard.group === primary.group &&
    shard !== primary &&
    !shard.leaving &&
    revisionOf(shard.runs) === revisionOf(primary.runs)
  return shards.filter(same).map(({ id }) => agentName(id))
}

function describe(database: Database): NodeBackup['database'] {
  return {
    uid: database.uid,
    name: database.name,
    build: database.build,
    cluster: database.cluster,
    clientsKnowShards: database.clientsKnowShards,
    replicas: database.replicas,
    memoryBytes: database.memoryBytes,
    persistence: database.persistence,
    aofFsync: database.aofFsync,
    snapshots: [...database.snapshots],
    evictionPolicy: database.evictionPolicy,
    tls: database.tls,
    modules: database.modules.map(({ name, semanticVersion }) => ({ name, semanticVersion })),
  }
}

/** The agent's refusals are about what was asked for here; an older one knows no backups. */
function refuseAsAgent(cause: unknown): never {
  if (!isDeclined(cause)) throw cause
  if (cause.code === 'not_found')
    throw new Refusal('unavailable', 'the agent of the node is older than backups: start it again', { cause })
  throw new Refusal(cause.code as ErrorCode, cause.message, { cause })
}
