import { currentPlace, recordSince, underTrace } from '@fairlead/engine'
import type { Action } from '../../core/state/action.ts'
import type { LaneRecord, WaitingSince } from '../../core/state/lane-record.ts'
import { spanOfAction } from './trace-records.ts'

/**
 * Records each ended wait of a group, for example for a full sync, as a span of its action. Its start is on
 * record and survives a restart.
 */
export function traceWaits(
  { uid, trace }: Pick<Action, 'uid' | 'trace'>,
  known: readonly LaneRecord[],
  now: readonly LaneRecord[],
): void {
  if (trace === undefined) return
  const over = now.flatMap(({ group, waiting }) => {
    const before = known.find((lane) => lane.group === group)?.waiting ?? null
    return before === null || isSameWait(before, waiting) ? [] : [{ group, before }]
  })
  if (over.length === 0) return
  underTrace(trace, spanOfAction(uid), () => {
    for (const { group, before } of over)
      recordSince(currentPlace(), {
        name: `wait ${before.code}`,
        startMs: Date.parse(before.since),
        attributes: {
          'fairlead.group': group,
          ...(before.shard !== null && { 'fairlead.shard': before.shard }),
        },
      })
  })
}

function isSameWait(one: WaitingSince, other: WaitingSince | null): boolean {
  return other !== null && one.code === other.code && one.since === other.since && one.shard === other.shard
}
