import { type AuditType, fairlead } from '../../core/identity/audit-record.ts'
import { hasBrokenHistory } from '../../core/losses/broken-history.ts'
import { lostBytes, lostSinceSnapshot } from '../../core/losses/lost-bytes.ts'
import { lostWith } from '../../core/losses/lost-with.ts'
import { isEmptyDisk } from '../../core/plan/kept-on-disk.ts'
import type { Action, Certificate } from '../../core/state/action.ts'
import type { Database, History } from '../../core/state/database.ts'
import {
  type EngineState,
  isLive,
  type LiveShard,
  type ObservedDatabase,
  type ObservedGroup,
  type ObservedShard,
} from '../../core/state/topology.ts'
import { mayHaveOldValues } from '../../core/state/way-back.ts'
import type { ActionRecords, AuditTrail, Clock, HandoverRecords, Log, OrdersGiven } from '../turn/ports.ts'
import type { StepContext } from '../turn/step-context.ts'
import type { TurnMemory } from '../turn/turn-memory.ts'

/** Ports for reports to people: the log, the audit, and a running action. */
export type ReportingPorts = ActionRecords & AuditTrail & OrdersGiven<'mayBeGiven'> & Clock & Log
type ReportingContext<Ports = ReportingPorts> = Pick<
  StepContext<Ports>,
  'action' | 'database' | 'group' | 'seen' | 'ports'
>

/**
 * Reports the loss after a replica was promoted because its primary was gone, without a handover:
 * acknowledged writes that were not sent yet. Asynchronous replication allows this.
 */
export async function reportPromotionLoss(
  shard: number,
  { action, seen, database, group, ports }: ReportingContext<ReportingPorts & HandoverRecords<'last'>>,
): Promise<void> {
  const lost = lostWith(seen, ports.ordersToServe.mayBeGiven({ databaseUid: database.uid, group }))
  // The shard had handed over its role, and is primary again.
  if (lost === null || lost === shard) return
  const successor = seen.shards.find(({ id }) => id === shard)
  const gone = seen.shards.find(({ id }) => id === lost)
  const { handover } = seen
  const when = handover === null ? '' : ` in the handover from shard ${handover.from} to shard ${handover.to}`
  const offset = successor?.engine?.offset ?? 0
  const bytes = successor?.engine == null ? null : lostBytes(seen.history, successor.engine)
  const words =
    `shard ${shard} was promoted in place of shard ${lost}, which was gone${when}` +
    `${gone === undefined ? '' : ` (${gone.processWhy})`}: writes that it had acknowledged and not yet sent,` +
    ` after offset ${offset}, ${areLost(bytes)}` +
    (await oldValuesOf(successor, gone, { database, group, ports }))
  const details = { shard: String(shard), instead_of: String(lost), ...detailOf(bytes) }
  await reportEvent({ type: 'bdb_primary_replaced', words, details }, { database, action }, ports)
}

/** Before Redis 6.2 a follower of a newer primary silently keeps the old value of a key set with a TTL. */
async function oldValuesOf(
  successor: ObservedShard | undefined,
  gone: ObservedShard | undefined,
  { database, group, ports }: Pick<ReportingContext<HandoverRecords<'last'>>, 'database' | 'group' | 'ports'>,
): Promise<string> {
  if (successor === undefined || gone === undefined || !mayHaveOldValues(successor, gone)) return ''
  const moved = (await ports.handovers.last(database.uid)).get(group)
  const since = moved === undefined ? 'it followed a newer primary' : moved.intendedAt
  const { flavour, version } = successor.wanted.build
  return `. It runs ${flavour} ${version}, which does not carry out a SET with a time to live of a newer primary: keys that were set with one since ${since} may have older values, or be missing`
}

/**
 * Reports that a primary died without a replacement and serves again with the data on disk. With `appendfsync
 * always` those are all acknowledged writes, and nothing is reported.
 */
export async function reportRestartLoss(
  seen: ObservedGroup,
  known: History,
  about: { readonly database: Database; readonly action: Action | undefined },
  ports: ReportingPorts,
): Promise<void> {
  const { persistence, aofFsync } = about.database
  const primary = seen.shards.find(({ id }) => id === seen.recordedPrimary)
  if (primary === undefined || !isLive(primary) || !hasBrokenHistory(primary, known)) return
  // While a change of that runs, its file may not be whole.
  const isChanging = about.action?.goal.change !== undefined
  if (persistence === 'aof' && aofFsync === 'always' && !isChanging) return
  const bytes = lostBytes(known, primary.engine) ?? lostOnDisk(known, primary, persistence)
  const words =
    `shard ${primary.id} died as a primary without a replica to replace it, and serves again with what was on its disk` +
    ` (data_persistence: ${persistence}): writes that it had acknowledged and not yet saved, up to offset ${known.offset} and beyond, ${areLost(bytes)}`
  const details = { shard: String(primary.id), persistence, ...detailOf(bytes) }
  await reportEvent({ type: 'bdb_primary_lost_memory', words, details }, about, ports)
}

/** Uses the loaded file: the new process's history shows nothing. An append-only file has no offset. */
function lostOnDisk(
  known: History,
  { engine, disk }: LiveShard,
  persistence: Database['persistence'],
): number | null {
  if (persistence === 'snapshot') return lostSinceSnapshot(known, disk?.snapshot ?? null)
  return beganEmpty(engine, persistence) ? known.offset : null
}

/** True if nothing is kept on disk and the process continues no former history. */
function beganEmpty({ replid2 }: EngineState, persistence: Database['persistence']): boolean {
  return persistence === 'disabled' && /^0*$/.test(replid2)
}

/** Reports, once an hour, a hung process that is not ended automatically, even without an action. */
export async function reportHangingShards(
  { groups }: ObservedDatabase,
  about: { readonly database: Database; readonly action: Action | undefined },
  ports: ReportingPorts,
  memory: TurnMemory,
): Promise<void> {
  for (const { id, processWhy, silence } of groups.flatMap(({ shards }) => shards)) {
    if (silence?.hung !== true) continue
    if (!memory.isTime(`hanging of ${id} since ${silence.startedAt}`, REPORT_EVERY_MS)) continue
    const details = { shard: String(id), why: processWhy }
    await reportEvent({ type: 'bdb_shard_hung', words: `shard ${id} ${processWhy}`, details }, about, ports)
  }
}

const REPORT_EVERY_MS = 60 * 60 * 1_000

/** Reports writes lost in a handover. `lost`: bytes of the stream; null if unknown. */
export async function reportHandoverLoss(
  { from, to, offsetTo }: Certificate,
  lost: number | null,
  { action, database, ports }: Omit<ReportingContext, 'seen'>,
): Promise<void> {
  const howMuch =
    lost === null ? 'if it had acknowledged any: how many is not known' : `${lost} bytes of its stream`
  const words =
    `in the handover from shard ${from} to shard ${to}, shard ${from} went on serving after it was replaced:` +
    ` writes that it acknowledged${offsetTo === null ? '' : ` after offset ${offsetTo}`} are lost, ${howMuch}`
  const details = { shard: String(to), instead_of: String(from), bytes: lost === null ? 'unknown' : lost }
  await reportEvent({ type: 'bdb_handover_lost_writes', words, details }, { database, action }, ports)
}

/**
 * Reports that a primary without its append-only file is started, because no other shard holds data; an empty
 * database would have the file. (Unless `appendfsync` is always, this is reported as any return.)
 */
export async function reportEmptyStart(
  { shard, follow }: { readonly shard: number; readonly follow: number | null },
  { action, seen, database, ports }: ReportingContext,
): Promise<void> {
  const { persistence, aofFsync } = database
  const started = seen.shards.find(({ id }) => id === shard)
  if (follow !== null || persistence !== 'aof' || aofFsync !== 'always') return
  if (started === undefined || !isEmptyDisk(started) || seen.history === null) return
  const words =
    `shard ${shard}, the last primary, serves again with an empty disk: its append-only file is gone, and no other shard` +
    ` holds data; all that it had acknowledged is lost, ${seen.history.offset} bytes of its stream`
  const details = { shard: String(shard), persistence, ...detailOf(seen.history.offset) }
  await reportEvent({ type: 'bdb_primary_lost_memory', words, details }, { database, action }, ports)
}

/** The record is up to a second old: newer writes may be missing even if everything on record is there. */
function areLost(bytes: number | null): string {
  if (bytes === null) return 'may be lost; how many is not known'
  return bytes === 0
    ? 'are lost if there were any; nothing on record is missing'
    : `are lost; of what was on record, ${bytes} bytes of its stream`
}

function detailOf(bytes: number | null): { readonly lost_bytes?: string } {
  return bytes === null ? {} : { lost_bytes: String(bytes) }
}

/** Reports to people: the log, the audit, and a running action. */
export async function reportEvent(
  {
    type,
    words,
    details,
  }: { readonly type: AuditType; readonly words: string; readonly details: Record<string, string | number> },
  { database, action }: { readonly database: Database; readonly action: Action | undefined },
  ports: ReportingPorts,
): Promise<void> {
  ports.log.error({ database: database.uid, ...details }, words)
  const at = new Date(ports.now()).toISOString()
  if (action !== undefined) await ports.actions.warn(action.uid, words, at)
  await ports.audit.append({ type, by: fairlead, databaseUid: database.uid, details }, at)
}
