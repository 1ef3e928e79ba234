import type { ReplicationInfo } from '@fairlead/engine'
import type { Certificate } from '../state/action.ts'

/** The old primary at the end of its handover. */
export interface OldPrimary {
  /** True if it is the same process as before the handover. */
  readonly isSameProcess: boolean
  /** Bytes that it wrote alone: see aloneFor. */
  readonly alone: number | null
}

type OldPoint = Pick<ReplicationInfo, 'replid' | 'replid2' | 'offset'>
type Branch = Pick<ReplicationInfo, 'replid' | 'replid2' | 'secondOffset'>

/**
 * Returns the bytes that an old primary has written after its successor branched off; null if unknown.
 * 1. An old primary that resumed the stream knows the history before the handover, like its new primary: 0
 *    bytes.
 * 2. One that took a full sync knows only the new history: its writes and offset are gone, so null.
 * 3. One that did neither is at its former offset, linked or not: it may be slow, or of an older build that
 *    cannot read the copy.
 */
export function aloneFor(old: OldPoint, successor: Branch): number | null {
  if (old.replid === successor.replid) return old.replid2 === successor.replid2 ? 0 : null
  const branch = branchOf(successor)
  return old.replid === successor.replid2 && branch !== null ? Math.max(0, old.offset - branch) : null
}

/**
 * Returns the offset at which a successor took over. Null if a restarted one no longer knows it; engines
 * report a negative offset then.
 */
export function branchOf({ secondOffset }: Pick<Branch, 'secondOffset'>): number | null {
  return secondOffset < 1 ? null : secondOffset - 1
}

/**
 * Returns the bytes of the stream lost in a handover; null if the loss is unknown, undefined if there is
 * none.
 * 1. Both are at one offset when the role moves, and the old primary resumes from there. A successor that
 *    branched off earlier lacks the bytes in between; if one offset is unknown, this loss cannot be
 *    calculated.
 * 2. An old primary that continued alone learned of its replacement too late, and has acknowledged writes
 *    (only in cluster mode: elsewhere it is demoted first).
 */
export function lostInHandover(
  { offsetFrom, offsetTo }: Pick<Certificate, 'offsetFrom' | 'offsetTo'>,
  old: OldPrimary | null,
  inCluster: boolean,
): number | null | undefined {
  if (offsetTo !== null && offsetFrom !== null && offsetTo < offsetFrom) return offsetFrom - offsetTo
  return inCluster && old?.isSameProcess && old.alone !== 0 ? old.alone : undefined
}
