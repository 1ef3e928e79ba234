import type { Action, Certificate } from '../../core/state/action.ts'
import type { LaneRecord } from '../../core/state/lane-record.ts'
import type { Db } from '../../store/open-store.ts'
import { actionLanesStore } from '../stores/action-lanes-store.ts'
import { handoversStore } from '../stores/handovers-store.ts'
import { type OrderFacts, orderFacts } from './order-facts.ts'

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
