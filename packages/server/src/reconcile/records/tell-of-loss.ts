import { type AuditType, fairlead } from '../../core/identity/audit-record.ts'
import { hasBrokenHistory } from '../../core/losses/broken-history.ts'
import { lostBytes } from '../../core/losses/lost-bytes.ts'
import { lostWith } from '../../core/losses/lost-with.ts'
import { isEmptyDisk } from '../../core/plan/kept-on-disk.ts'
import type { Action, Certificate } from '../../core/state/action.ts'
import type { Database, History } from '../../core/state/database.ts'
import { isLive, type Seen, type SeenDatabase } from '../../core/state/topology.ts'
import type { ActionRecords, AuditTrail, Clock, Log, OrdersGiven } from '../turn/ports.ts'
import type { StepContext } from '../turn/step-context.ts'
import type { TurnMemory } from '../turn/turn-memory.ts'
import { warnOf } from './note-action.ts'

/** For people: the log, the audit, and the action if one runs. */
export type TellingPorts = ActionRecords & AuditTrail & OrdersGiven<'mayBeGiven'> & Clock & Log
type TellingContext = Pick<StepContext<TellingPorts>, 'action' | 'database' | 'group' | 'seen' | 'ports'>

/**
 * A replica was promoted because its primary was gone, not because it was handed the role: what the primary had
 * acknowledged and not yet sent is lost. That is what asynchronous replication allows, and it is said.
 */
export async function tellOfPromotion(
  shard: number,
  { action, seen, database, group, ports }: TellingContext,
): Promise<void> {
  const lost = lostWith(seen, ports.ordersToServe.mayBeGiven({ databaseUid: database.uid, group }))
  // It has stepped down for another one, and steps up again.
  if (lost === null || lost === shard) return
  const heir = seen.shards.find(({ id }) => id === shard)
  const gone = seen.shards.find(({ id }) => id === lost)
  const { handover } = seen
  const when = handover === null ? '' : ` in the handover from shard ${handover.from} to shard ${handover.to}`
  const offset = heir?.engine?.offset ?? 0
  const bytes = heir?.engine == null ? null : lostBytes(seen.history, heir.engine)
  const words =
    `shard ${shard} was promoted in place of shard ${lost}, which was gone${when}` +
    `${gone === undefined ? '' : ` (${gone.processWhy})`}: writes that it had acknowledged and not yet sent,` +
    ` after offset ${offset}, ${areLost(bytes)}`
  const details = { shard: String(shard), instead_of: String(lost), ...detailOf(bytes) }
  await tell({ type: 'bdb_primary_replaced', words, details }, { database, action }, ports)
}

/**
 * A primary died, nobody stood in for it, and it serves again: with what was on its disk. With `appendfsync always` that
 * was whatever it had acknowledged, and nothing is said.
 */
export async function tellOfReturn(
  seen: Seen,
  known: History,
  about: { readonly database: Database; readonly action: Action | undefined },
  ports: TellingPorts,
): Promise<void> {
  const { persistence, aofFsync } = about.database
  const primary = seen.shards.find(({ id }) => id === seen.recordedPrimary)
  if (primary === undefined || !isLive(primary) || !hasBrokenHistory(primary, known)) return
  if (persistence === 'aof' && aofFsync === 'always') return
  const bytes = lostBytes(known, primary.engine)
  const words =
    `shard ${primary.id} died as a primary with nobody to stand in for it, and serves again with what was on its disk` +
    ` (data_persistence: ${persistence}): writes that it had acknowledged and not yet saved, up to offset ${known.offset} and beyond, ${areLost(bytes)}`
  const details = { shard: String(primary.id), persistence, ...detailOf(bytes) }
  await tell({ type: 'bdb_primary_lost_memory', words, details }, about, ports)
}

/** A process hangs, and is not ended by itself: people must hear of that, also when there is no action. Said once an hour. */
export async function tellOfHanging(
  { groups }: SeenDatabase,
  about: { readonly database: Database; readonly action: Action | undefined },
  ports: TellingPorts,
  memory: TurnMemory,
): Promise<void> {
  for (const { id, processWhy, silence } of groups.flatMap(({ shards }) => shards)) {
    if (silence?.hung !== true) continue
    if (!memory.isTime(`hanging of ${id} since ${silence.startedAt}`, TELL_EVERY_MS)) continue
    const details = { shard: String(id), why: processWhy }
    await tell({ type: 'bdb_shard_hung', words: `shard ${id} ${processWhy}`, details }, about, ports)
  }
}

const TELL_EVERY_MS = 60 * 60 * 1_000

/** `lost`: bytes of the stream; null: nobody can say how many. */
export async function tellOfHandover(
  { from, to, offsetTo }: Certificate,
  lost: number | null,
  { action, database, ports }: Omit<TellingContext, 'seen'>,
): Promise<void> {
  const howMuch =
    lost === null ? 'if it had acknowledged any: how many is not known' : `${lost} bytes of its stream`
  const words =
    `in the handover from shard ${from} to shard ${to}, shard ${from} has served on after it was replaced:` +
    ` writes that it acknowledged after offset ${offsetTo} are lost, ${howMuch}`
  const details = { shard: String(to), instead_of: String(from), bytes: lost === null ? 'unknown' : lost }
  await tell({ type: 'bdb_handover_lost_writes', words, details }, { database, action }, ports)
}

/**
 * A primary whose append-only file is gone is started all the same, for nobody else holds anything. An empty database
 * would have one. (With another `appendfsync` than always it is told of as any return.)
 */
export async function tellOfEmptyStart(
  { shard, follow }: { readonly shard: number; readonly follow: number | null },
  { action, seen, database, ports }: TellingContext,
): Promise<void> {
  const { persistence, aofFsync } = database
  const started = seen.shards.find(({ id }) => id === shard)
  if (follow !== null || persistence !== 'aof' || aofFsync !== 'always') return
  if (started === undefined || !isEmptyDisk(started) || seen.history === null) return
  const words =
    `shard ${shard}, the last primary, serves again with an empty disk: its append-only file is gone, and nobody else` +
    ` holds anything; all that it had acknowledged is lost, ${seen.history.offset} bytes of its stream`
  const details = { shard: String(shard), persistence, ...detailOf(seen.history.offset) }
  await tell({ type: 'bdb_primary_lost_memory', words, details }, { database, action }, ports)
}

/** The record is up to a second old: where nothing of it is missing, something that is younger may be. */
function areLost(bytes: number | null): string {
  if (bytes === null) return 'are lost; how many is not known'
  return bytes === 0
    ? 'are lost if there were any; nothing is missing of what was on record'
    : `are lost; of what was on record, ${bytes} bytes of its stream`
}

function detailOf(bytes: number | null): { readonly lost_bytes?: string } {
  return bytes === null ? {} : { lost_bytes: String(bytes) }
}

/** For people: the log, the audit, and the action if one runs. */
export async function tell(
  {
    type,
    words,
    details,
  }: { readonly type: AuditType; readonly words: string; readonly details: Record<string, string | number> },
  { database, action }: { readonly database: Database; readonly action: Action | undefined },
  ports: TellingPorts,
): Promise<void> {
  ports.log.error({ database: database.uid, ...details }, words)
  if (action !== undefined) await warnOf(action, words, ports)
  const at = new Date(ports.now()).toISOString()
  await ports.audit.append({ type, by: fairlead, databaseUid: database.uid, details }, at)
}
