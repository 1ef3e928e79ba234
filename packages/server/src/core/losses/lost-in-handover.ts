import type { ReplicationInfo } from '@fairlead/engine'
import type { Certificate } from '../state/action.ts'

/** What the old primary is at the end of its handover. */
export interface OldPrimary {
  /** The same process as before the handover. */
  readonly isSameProcess: boolean
  /** How far it went on alone: see aloneFor. */
  readonly alone: number | null
}

type OldPoint = Pick<ReplicationInfo, 'replid' | 'replid2' | 'offset'>
type Branch = Pick<ReplicationInfo, 'replid' | 'replid2' | 'secondOffset'>

/**
 * How many bytes of its own stream an old primary has written after its heir branched off; null where nobody can say: it has copied
 * everything anew, and what it held alone is gone with its number.
 *
 * One that resumed the stream knows the history before the handover, as its new primary does; one that copied anew knows only the new
 * one. One that has done neither is where it was, linked or not: it may only be slow, and one of an older build cannot read the copy.
 */
export function aloneFor(old: OldPoint, heir: Branch): number | null {
  if (old.replid === heir.replid) return old.replid2 === heir.replid2 ? 0 : null
  return old.replid === heir.replid2 ? Math.max(0, old.offset - branchOf(heir)) : null
}

/** The offset at which an heir took over: its own history begins behind it. */
export function branchOf({ secondOffset }: Pick<Branch, 'secondOffset'>): number {
  return secondOffset - 1
}

/**
 * What a handover has lost, against all that was done: bytes of the stream; null where something may be lost and nobody
 * can say how much. Undefined: nothing.
 *
 * Both stand at one offset when the role moves, and the old primary resumes from there. An heir that branched off earlier lacks what
 * lies between. An old primary that went on alone woke up too late to know that it was
 * replaced, and has acknowledged writes since (cluster mode only: elsewhere it is demoted first).
 */
export function lostInHandover(
  { offsetFrom, offsetTo }: Pick<Certificate, 'offsetFrom' | 'offsetTo'>,
  old: OldPrimary | null,
  inCluster: boolean,
): number | null | undefined {
  if (offsetTo < offsetFrom) return offsetFrom - offsetTo
  return inCluster && old?.isSameProcess && old.alone !== 0 ? old.alone : undefined
}
