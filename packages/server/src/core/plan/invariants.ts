import type { SlotRange } from '../state/database.ts'
import type { Goal } from '../state/goal.ts'
import {
  claimsSlots,
  isAt,
  isLinked,
  isLive,
  type LiveShard,
  type ObservedGroup,
  type ObservedShard,
  type Step,
} from '../state/topology.ts'
import { isEmptyDisk, whyLessKept, whyNotGivenUp } from './kept-on-disk.ts'
import { isSilent, mayServe } from './may-serve.ts'
import { isNewerThanDisk } from './plan-from-disks.ts'
import { holdsHistory, isAstray } from './plan-take-back.ts'

/**
 * Returns the invariants that a step would break; empty if none. Checked in production before every effect,
 * whatever plan it comes from: a violation is a bug of Fairlead. `durable`: which data must be on a disk;
 * `disabled` if data may be lost.
 */
export function violations(
  seen: ObservedGroup,
  step: Step,
  durable: Goal['persistence'] = 'disabled',
): readonly string[] {
  const broken: string[] = []
  const must = (holds: boolean, sentence: string) => {
    if (!holds) broken.push(`${step.kind}: ${sentence}`)
  }
  const about = step.kind === 'hand-over' ? step.to : 'shard' in step ? step.shard : undefined
  const shard = seen.shards.find(({ id }) => id === about)
  const primaries = seen.shards.filter(isLive).filter(({ engine }) => engine.role === 'primary')
  checkStep(step, { seen, shard, primaries, durable, must })
  return broken
}

/** The subject of a check. `shard`: the step's shard; in a handover the successor. */
interface Check {
  readonly seen: ObservedGroup
  readonly shard: ObservedShard | undefined
  readonly primaries: readonly LiveShard[]
  readonly durable: Goal['persistence']
  readonly must: (holds: boolean, sentence: string) => void
}

function checkStep(step: Step, check: Check): void {
  const { seen, shard, must } = check
  switch (step.kind) {
    case 'retire-shard':
      checkRetirement(check)
      break
    case 'restart-shard':
      must(shard !== undefined && !serves(seen, shard), 'a primary never restarts while it serves')
      break
    case 'restart-primary':
      must(seen.shards.length === 1, 'a primary restarts in place only if it is the only shard of its group')
      break
    case 'end-process':
      must(
        shard !== undefined && !isLive(shard) && shard.silence?.hung === true,
        'only a process that hangs is ended',
      )
      break
    case 'start-shard':
      checkStart(step.follow, check)
      break
    case 'assign-slots':
      checkSlots(check)
      break
    case 'promote':
      checkPromotion(check)
      break
    case 'take-back':
      checkTakeBack(step.slots, check)
      break
    case 'add-shard':
      must(
        step.follow !== null || seen.shards.length === 0,
        'only the first shard of a group starts without a primary to follow',
      )
      break
    case 'hand-over':
      checkHandover(step.from, check)
      break
    case 'forget-node':
      must(
        !seen.shards.some((one) => isLive(one) && one.engine.cluster?.id === step.node),
        'a shard of the database is not forgotten',
      )
      break
    case 'follow':
      must(step.shard !== step.primary, 'no shard follows itself')
      break
    case 'enable-aof':
    case 'save-snapshot':
    case 'fence':
    case 'meet':
    case 'record-primary':
    case 'record-follows':
    case 'release-handover':
    case 'seal-handover':
      break // these steps take nothing away from any shard
  }
}

function checkRetirement({ seen, shard, primaries: [primary], durable, must }: Check): void {
  must(
    shard === undefined || !serves(seen, shard) || seen.shards.length === 1,
    'a shard that serves is not retired while there are others',
  )
  must(
    shard === undefined ||
      shard.leaving ||
      primary === undefined ||
      whyNotGivenUp(shard, primary, durable) === undefined,
    'what it has on disk is on the disk of the primary',
  )
}

function checkStart(follow: number | null, { seen, shard, primaries, must }: Check): void {
  must(shard?.engine == null || follow !== null, 'a shard that answers is not started as a primary')
  must(follow !== null || primaries.length === 0, 'no second primary is started')
  must(
    follow === null || shard === undefined || !claimsSlots(shard, seen),
    'a shard that would claim the slots of another one is not started',
  )
  must(
    follow !== null || shard === undefined || !wouldEmpty(shard, seen),
    'a primary whose disk is empty does not empty others',
  )
}

function checkSlots({ seen, shard, primaries, must }: Check): void {
  must(seen.slots !== null && primaries.length === 0, 'slots are given only to a group that serves none')
  must(
    shard !== undefined && isLive(shard) && shard.engine.role === 'blank',
    'slots are given only to a blank shard',
  )
}

function checkPromotion({ seen, shard, primaries, must }: Check): void {
  must(primaries.length === 0, 'no shard is promoted beside a primary')
  must(
    !seen.shards.some((one) => one !== shard && isSilent(one) && mayServe(one, seen)),
    'no shard is promoted beside a silent one that may be the primary',
  )
  must(shard !== undefined && isLive(shard), 'only a shard that answers is promoted')
  must(
    shard === undefined || !isLive(shard) || !isAstray(shard, seen),
    'no shard is promoted that follows a node outside its group',
  )
  must(
    shard === undefined || !isLive(shard) || !isBehindDisk(shard, seen),
    'a shard that came back from its disk is not promoted while the disk of the primary holds more',
  )
}

function checkTakeBack(slots: SlotRange, { seen, shard, primaries, must }: Check): void {
  must(primaries.length === 0, 'slots are taken back only by a group that has no primary')
  must(
    shard !== undefined && isLive(shard) && isAstray(shard, seen) && holdsHistory(shard, seen),
    'slots are taken back only by a shard that holds the data on record, and follows a node outside its group',
  )
  must(
    seen.slots !== null && slots.first === seen.slots.first && slots.last === seen.slots.last,
    'a group takes back its own slots and no others',
  )
}

function checkHandover(from: number, { seen, shard: successor, primaries, durable, must }: Check): void {
  const primary = seen.shards.find(({ id }) => id === from)
  must(seen.handover === null, 'the handover before is closed')
  must(
    primary !== undefined && isLive(primary) && primary.engine.role === 'primary',
    'the shard that hands over is the primary',
  )
  must(
    primary !== undefined && successor !== undefined && isLinked(successor, primary),
    'the successor is linked to the primary',
  )
  must(
    seen.shards.every(
      (shard) =>
        shard.id === from || (primary !== undefined && isLive(shard) && isAt(shard.engine.primary, primary)),
    ),
    'every other member follows the primary',
  )
  const [serving] = primaries
  must(
    serving === undefined ||
      successor === undefined ||
      !isLive(successor) ||
      whyLessKept(successor, serving, serving, durable) === undefined,
    'what the primary has on disk is on the disk of the successor',
  )
}

/** True if shards with data would follow it and copy its empty data set. */
function wouldEmpty(shard: ObservedShard, { shards }: ObservedGroup): boolean {
  if (!isEmptyDisk(shard)) return false
  return shards.some((other) => other !== shard && !other.leaving && holdsAnything(other))
}

function holdsAnything(shard: ObservedShard): boolean {
  if (isLive(shard)) return shard.engine.role === 'replica' && !shard.engine.syncing && shard.engine.keys > 0
  return shard.disk !== null && !isEmptyDisk(shard)
}

function isBehindDisk(shard: LiveShard, seen: ObservedGroup): boolean {
  const last = seen.shards.find(({ id }) => id === seen.recordedPrimary)
  if (shard.engine.streamed || last === undefined || last === shard || isLive(last)) return false
  // It equals a shard that ran until the end and holds no more.
  const hasPeer = seen.shards.some(
    ({ engine }) =>
      engine?.streamed === true &&
      engine.role === 'replica' &&
      engine.replid === shard.engine.replid &&
      engine.offset <= shard.engine.offset,
  )
  if (hasPeer && shard.engine.offset >= (seen.history?.offset ?? 0)) return false
  return !isEmptyDisk(last) && !isNewerThanDisk(shard, last, seen)
}

/** True if it is a primary now, or the endpoint points at it and no other shard is a primary. */
function serves(seen: ObservedGroup, shard: ObservedShard): boolean {
  if (isLive(shard)) return shard.engine.role === 'primary'
  return (
    shard.id === seen.recordedPrimary &&
    !seen.shards.some((one) => isLive(one) && one.engine.role === 'primary')
  )
}
