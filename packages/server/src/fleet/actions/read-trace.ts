import { BUCKET_MS, type HandoverTape, type HandoverTrace, Refusal } from '@fairlead/api'
import type { Certificate } from '../../core/state/action.ts'
import { tapeDue } from '../../core/state/handover.ts'
import type { Db } from '../../store/open-store.ts'
import { handoverTapesStore } from '../stores/handover-tapes-store.ts'
import { handoversStore } from '../stores/handovers-store.ts'

/**
 * Reads clients' view of handover `n` (from 1 on). Throws Refusal trace_not_exist, or trace_not_ready while
 * the endpoint still counts. `now` is Unix milliseconds.
 */
export async function readTrace({ uid, n }: Which, db: Db, now: number): Promise<HandoverTrace> {
  const certified = await handoversStore(db).certified(uid)
  const handover = certified[n - 1]
  if (handover === undefined) throw missing(`the action has ${certified.length} certificate(s)`)
  const { certificate, id } = handover
  const { began, parts, heldMs } = certificate
  if (certificate.recovered) throw missing('the handover was interrupted by a crash')
  if (parts === undefined || began === undefined || heldMs === null)
    throw missing('the database has no endpoint, its proxy was away, or the handover is older than traces')
  const tape = await handoverTapesStore(db).get(id)
  if (tape !== undefined) return traceOf({ uid, n }, { ...certificate, began, parts }, tape)
  if (tapeDue(handover, now) !== undefined)
    throw new Refusal('trace_not_ready', 'the endpoint still counts: ask again in a few seconds')
  throw missing('the proxy was replaced right after the handover, or many handovers came later')
}

function missing(why: string): Refusal {
  return new Refusal('trace_not_exist', `there is no trace of this handover: ${why}`)
}

type Complete = Certificate & Required<Pick<Certificate, 'began' | 'parts'>>
/** The handover with certificate number `n` of the action `uid`. */
interface Which {
  readonly uid: string
  readonly n: number
}

function traceOf(
  { uid, n }: Which,
  { began, parts, from, to, group }: Complete,
  { leadMs, replies, held, errors }: HandoverTape,
): HandoverTrace {
  let at = leadMs + began.moveAfterMs
  const next = (ms: number) => {
    const part = { from: round(at), to: round(at + ms) }
    at += ms
    return part
  }
  return {
    action_uid: uid,
    handover: n,
    group: group ?? null,
    from: String(from),
    to: String(to),
    t0: new Date(began.holdAt - leadMs).toISOString(),
    bucket_ms: BUCKET_MS,
    replies,
    held,
    errors,
    marks: {
      hold: { from: round(leadMs), to: round(leadMs + parts.hold) },
      pause: next(parts.pause),
      equal: next(parts.equal),
      promote: next(parts.promote),
      release: next(parts.release),
    },
  }
}

function round(ms: number): number {
  return Math.round(ms * 100) / 100
}
