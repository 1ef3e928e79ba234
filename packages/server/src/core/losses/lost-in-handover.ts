import type { ReplicationInfo } from '@fairlead/engine'
import type { Certificate } from '../state/action.ts'

/** The old primary at the end of its handover. */
export interface OldPrimary {
  /** Whether it is the same process as before the handover. */
  readonly isSameProcess: boolean
  /** How many bytes it wrote alone: see aloneFor. */
  readonly alone: number | null
}

type OldPoint = Pick<ReplicationInfo, 'replid' | 'replid2' | 'offset'>
type Branch = Pick<ReplicationInfo, 'replid' | 'replid2' | 'secondOffset'>

/**
 * How many bytes of its own stream an old primary has written after its successor branched off. Null where that
 * cannot be known: it has taken a full sync, which removed its own writes and its offset.
 *
 * An old primary that resumed the stream knows the history before the handover, as its new primary does; one
 * that took a full sync knows only the new one. An old primary that has done neither is at its former offset, linked or not:
 * it may only be slow, or of an older build that cannot read the copy.
 */
export function aloneFor(old: OldPoint, successor: Branch): number | null {
  if (old.replid === successor.replid) return old.replid2 === successor.replid2 ? 0 : null
  const branch = branchOf(successor)
  return old.replid === successor.replid2 && branch !== null ? Math.max(0, old.offset - branch) : null
}

/**
 * The offset at which a successor took over: its own history begins after it. Null: it does not know the offset, because it was restarted. Engines report a
 * negative offset then.
 */
export function branchOf({ secondOffset }: Pick<Branch, 'secondOffset'>): number | null {
  return secondOffset < 1 ? null : secondOffset - 1
}

/**
 * What a handover has lost in spite of all precautions: bytes of the stream; null if something may be
 * lost, and the amount cannot be known. Undefined: nothing.
 *
 * Both stand at one offset when the role moves, and the old primary resumes from there. A successor that branched
 * off earlier lacks the bytes in between; if one of the two offsets is not known, this loss cannot be calculated. An old primary that went on alone learned of its replacement too
 * late, and has acknowledged writes since (cluster mode only: elsewhere it is demoted first).
 */
export function lostInHandover(
  { offsetFrom, offsetTo }: Pick<Certificate, 'offsetFrom' | 'offsetTo'>,
  old: OldPrimary | null,
  inCluster: boolean,
): number | null | undefined {
  if (offsetTo !== null && offsetFrom !== null && offsetTo < offsetFrom) return offsetFrom - offsetTo
  return inCluster && old?.isSameProcess && old.alone !== 0 ? old.alone : undefined
}
