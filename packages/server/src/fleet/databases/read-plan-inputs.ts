import { Refusal } from '@fairlead/api'
import { lackOfPorts } from '../../core/requests/lack-of-ports.ts'
import type { PlanInputs } from '../../core/requests/plan-basis.ts'
import type { PortRange } from '../../core/state/port-range.ts'
import type { Db } from '../../store/open-store.ts'
import { databasesStore } from '../stores/databases-store.ts'
import { shardsStore } from '../stores/shards-store.ts'
import { countTakenPorts } from './taken-ports.ts'

/** Stored facts, and how to read them again in the accepting transaction. */
export interface ReadPlanInputs {
  readonly standing: PlanInputs
  readonly again: (db: Db) => Promise<PlanInputs>
}

/** Facts that must be unchanged on acceptance. */
export interface Expected extends Pick<ReadPlanInputs, 'again'> {
  readonly isSame: (standing: PlanInputs) => boolean
}

/** Reads a database's facts and free ports. Throws Refusal db_not_exist. */
export async function readPlanInputs(
  db: Db,
  uid: number,
  portsNeeded: number,
  range: PortRange,
): Promise<ReadPlanInputs> {
  const again = (at: Db) => readNow(at, uid, portsNeeded, range)
  return { standing: await again(db), again }
}

async function readNow(db: Db, uid: number, portsNeeded: number, range: PortRange): Promise<PlanInputs> {
  const stores = { databases: databasesStore(db), shards: shardsStore(db) }
  const database = await stores.databases.get(uid)
  if (database === undefined) throw new Refusal('db_not_exist', `database ${uid} does not exist`)
  return {
    database,
    shards: await stores.shards.listOf(uid),
    reservedBytes: await stores.shards.reservedBytes(),
    lackOfPorts: lackOfPorts(portsNeeded, range, await countTakenPorts(range, stores)),
  }
}

/** Throws Refusal plan_outdated if the facts differ from the plan's. `db` is the accepting transaction. */
export async function refuseOutdated(db: Db, expected: Expected | undefined): Promise<void> {
  if (expected !== undefined && !expected.isSame(await expected.again(db))) throw planOutdated()
}

/** Refuses a request whose plan is outdated. */
export function planOutdated(): Refusal {
  return new Refusal(
    'plan_outdated',
    'what the plan depends on has changed since it was made, so nothing was begun; ask for a new plan with dry_run',
  )
}
