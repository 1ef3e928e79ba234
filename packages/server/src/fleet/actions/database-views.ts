import type { ErrorCode, Obstacle } from '@fairlead/api'
import { isSameAgain, type OrderInputs } from '../../core/requests/preview-orders.ts'
import type { Action, Certificate } from '../../core/state/action.ts'
import type { LaneRecord } from '../../core/state/lane-record.ts'
import { haveAllLeft } from '../../core/state/way-back.ts'
import type { Db } from '../../store/open-store.ts'
import { actionLanesStore } from '../stores/action-lanes-store.ts'
import { actionsStore } from '../stores/actions-store.ts'
import { databasesStore } from '../stores/databases-store.ts'
import { handoversStore } from '../stores/handovers-store.ts'
import { modulesStore } from '../stores/modules-store.ts'
import { shardsStore } from '../stores/shards-store.ts'

/** An action of a database with its certificates, facts and lanes. */
export interface DatabaseActionView {
  readonly of: 'database'
  readonly action: Action
  readonly certificates: readonly Certificate[]
  readonly facts: OrderFacts
  /** Undefined in lists, to keep them small. */
  readonly lanes: readonly LaneRecord[] | undefined
}

/** Reads details of one action, or of a list in a few statements. `now` is Unix milliseconds. */
export function createDatabaseViews(db: Db, now: () => number) {
  const handovers = handoversStore(db)
  const factsOf = async (actions: readonly Action[]) => {
    const at = new Date(now()).toISOString()
    const facts = await orderFacts(actions, db, at)
    return (action: Action) => facts.get(action.uid) ?? { haveAllLeft: false, whyNotAgain: undefined, at }
  }
  return {
    async one(action: Action): Promise<DatabaseActionView> {
      const certificates = await handovers.certificates(action.uid)
      const lanes = await actionLanesStore(db).of(action.uid)
      return { of: 'database', action, certificates, lanes, facts: (await factsOf([action]))(action) }
    },
    async all(actions: readonly Action[]): Promise<readonly DatabaseActionView[]> {
      const certificates = await handovers.certificatesOf(actions.map(({ uid }) => uid))
      const facts = await factsOf(actions)
      return actions.map((action) => ({
        of: 'database',
        action,
        lanes: undefined,
        facts: facts(action),
        certificates: certificates.get(action.uid) ?? [],
      }))
    },
  }
}

/** Inputs for a preview of orders, besides the action and the caller. */
type OrderFacts = Omit<OrderInputs, 'forbidden' | 'handovers'>

/** Facts by action uid, in a few statements; in none if the actions suffice. `at` is ISO 8601. */
async function orderFacts(
  actions: readonly Action[],
  db: Db,
  at: string,
): Promise<ReadonlyMap<string, OrderFacts>> {
  const upgrades = actions.filter(({ kind }) => kind === 'upgrade')
  const moving = upgrades.filter(
    ({ status, goal, handedOverAt }) => status === 'running' && !goal.undo && handedOverAt === null,
  )
  const failed = upgrades.filter(({ status }) => status === 'failed')
  const only = [...new Set([...moving, ...failed].map(({ databaseUid }) => databaseUid))]
  const page = { offset: 0, limit: only.length, only }
  const found = only.length === 0 ? [] : await databasesStore(db).page(page)
  const databases = new Map(found.map((database) => [database.uid, database]))
  const shards = await shardsStore(db).listOfEach(moving.map(({ databaseUid }) => databaseUid))
  const active = await actionsStore(db).activeOf(failed.map(({ databaseUid }) => databaseUid))
  const gone = await goneModules(failed, db)
  return new Map(
    actions.map((action) => {
      const database = databases.get(action.databaseUid)
      const isLeft =
        moving.includes(action) &&
        database !== undefined &&
        haveAllLeft(database.groups, shards.get(database.uid) ?? [], action.goal)
      const whyNotAgain = failed.includes(action)
        ? whyNot(action, database, { running: active.get(action.databaseUid), gone })
        : undefined
      return [action.uid, { haveAllLeft: isLeft, whyNotAgain, at }]
    }),
  )
}

/** Modules of these upgrades that have left the catalogue. */
async function goneModules(failed: readonly Action[], db: Db): Promise<ReadonlySet<string>> {
  const uids = new Set(failed.flatMap(({ asked }) => asked.modules.map(({ uid }) => uid)))
  const gone = new Set<string>()
  for (const uid of uids) if ((await modulesStore(db).get(uid)) === undefined) gone.add(uid)
  return gone
}

function whyNot(
  action: Action,
  database: Parameters<typeof isSameAgain>[1],
  { running, gone }: { readonly running: Action | undefined; readonly gone: ReadonlySet<string> },
): Obstacle<ErrorCode> | undefined {
  if (database === undefined)
    return { code: 'db_not_exist', why: `database ${action.databaseUid} does not exist` }
  if (!isSameAgain(action, database))
    return {
      code: 'order_not_applicable',
      why: 'the database is not what it was then; ask for a new upgrade',
    }
  if (running !== undefined)
    return {
      code: 'db_busy',
      why: `another change of the database is in progress: action ${running.uid} (${running.kind})`,
    }
  const module = action.asked.modules.find(({ uid }) => gone.has(uid))
  return module && { code: 'module_not_exist', why: `module ${module.uid} (${module.name}) has been deleted` }
}
