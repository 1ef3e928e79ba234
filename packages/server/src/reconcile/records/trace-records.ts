import { createHash } from 'node:crypto'
import { nowMs, type RecordSpan, readTraceparent } from '@fairlead/engine'
import type { Records } from './stored-records.ts'

/** Derives the span id of an action from its uid, so that all servers, also after a crash, use the same. */
export function spanOfAction(uid: string): string {
  return createHash('sha256').update(uid).digest('hex').slice(0, 16)
}

/** Returns the records with tracing: an ended action becomes a span of the request that began it. */
export function traceRecords(records: Records, record: RecordSpan): Records {
  const { actions } = records
  return {
    ...records,
    actions: {
      ...actions,
      async finish(action, database, at) {
        await actions.finish(action, database, at)
        const parent = readTraceparent(action.trace)
        const now = parent?.isSampled === true ? await actions.get(action.uid) : undefined
        // If a user has set another goal, the action continues.
        if (parent?.isSampled !== true || now?.status === 'queued' || now?.status === 'running') return
        record({
          traceId: parent.traceId,
          spanId: spanOfAction(action.uid),
          parentId: parent.spanId,
          name: `action ${action.kind}`,
          kind: 'internal',
          isError: action.error !== null,
          startMs: Date.parse(action.createdAt),
          endMs: nowMs(),
          attributes: { 'fairlead.action': action.uid, 'fairlead.database': database.uid },
        })
      },
    },
  }
}
