import type { Logger } from 'pino'
import { isUndoable } from '../../core/plan/judge.ts'
import { observe } from '../look/observe.ts'
import { giveUpAction, noteTrouble } from '../records/note-action.ts'
import { createOrdersToServe } from '../turn/orders-to-serve.ts'
import type { DatabaseRecords } from '../turn/ports.ts'
import { createPreparations } from '../turn/preparations.ts'
import { createTakeovers } from '../turn/take-over.ts'
import { createTurnMemory } from '../turn/turn-memory.ts'
import { type Loop, startLoop } from './loop.ts'
import { reconcileDatabase } from './reconcile-database.ts'
import type { TurnPorts } from './turn-ports.ts'

/** Trouble this many times in a row (about 25 s) before the handover ends an upgrade: it is undone. */
const GIVE_UP_AFTER = 9

/** Starts to look after every database on record, and after each that it is nudged for. */
export async function createReconciler(
  given: Omit<TurnPorts, 'preparations' | 'takeovers' | 'ordersToServe'> &
    DatabaseRecords<'list'> & { readonly log: Logger },
): Promise<Loop> {
  const memory = createTurnMemory()
  const preparations = createPreparations()
  const own = { takeovers: createTakeovers(), ordersToServe: createOrdersToServe() }
  const ports = { ...given, preparations, ...own }
  const loop = startLoop({
    turn: (uid, signal) => reconcileDatabase(uid, ports, memory, signal),
    trouble: (uid, cause, timesInARow) => meetTrouble(uid, cause, timesInARow, ports),
    log: ports.log,
  })
  for (const { uid } of await ports.databases.list()) loop.nudge(uid)
  return {
    nudge: loop.nudge,
    async [Symbol.asyncDispose]() {
      await loop[Symbol.asyncDispose]()
      await preparations[Symbol.asyncDispose]()
    },
  }
}

async function meetTrouble(
  uid: number,
  cause: unknown,
  timesInARow: number,
  ports: TurnPorts,
): Promise<void> {
  const why = cause instanceof Error ? cause.message : String(cause)
  const database = await ports.databases.get(uid)
  const action = await ports.actions.active(uid)
  if (database === undefined || action === undefined) return
  await noteTrouble(action, why, ports)
  if (timesInARow < GIVE_UP_AFTER || action.error !== null) return
  const seen = await observe(database, ports, AbortSignal.timeout(5_000))
  if (isUndoable(seen, action.goal)) await giveUpAction(action, why, ports)
}
