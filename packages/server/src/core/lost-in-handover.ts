import type { ReplicationInfo } from '@fairlead/engine'
import type { Certificate } from './action.ts'

/** What the old primary is at the end of its handover. */
export interface OldPrimary {
  /** The same process as before the handover. */
  readonly isSameProcess: boolean
  /** It has copied everything from the new primary anew, or would have to: what it held alone is gone. */
  readonly tookFullSync: boolean
}

/**
 * Has a replica copied everything anew, or does it have to? One of an older build cannot read the copy, and is never linked again. Who resumed the stream knows the history before the handover, as its new primary does; who
 * copied anew knows only the new one.
 */
export function tookFullSync(
  old: Pick<ReplicationInfo, 'link' | 'replid2'>,
  heir: Pick<ReplicationInfo, 'replid2'>,
): boolean {
  return old.link !== 'up' || old.replid2 !== heir.replid2
}

/**
 * What a handover has lost, against all that was done: bytes of the stream; null where something may be lost and nobody
 * can say how much. Undefined: nothing.
 *
 * Both stand at one offset when the role moves, and the old primary resumes from there. An heir that branched off earlier lacks what
 * lies between. An old primary that could not resume had gone on alone: it woke up too late to know that it was
 * replaced, and has acknowledged writes since (cluster mode only: elsewhere it is demoted first).
 */
export function lostInHandover(
  { offsetFrom, offsetTo }: Pick<Certificate, 'offsetFrom' | 'offsetTo'>,
  old: OldPrimary | null,
  inCluster: boolean,
): number | null | undefined {
  if (offsetTo < offsetFrom) return offsetFrom - offsetTo
  return inCluster && old?.isSameProcess && old.tookFullSync ? null : undefined
}
