import type { Counters } from '../../observe/metrics/counters.ts'
import type { Records } from './stored-records.ts'

/** Counters for ended actions and handovers. */
export type CountersOfRecords = Pick<
  Counters,
  'ended' | 'handovers' | 'writeStopSeconds' | 'heldSeconds' | 'longestWaitSeconds'
>

/** Returns the records with counting of ends, once these are on record. */
export function countRecords(records: Records, counters: CountersOfRecords): Records {
  const { actions, handovers } = records
  return {
    ...records,
    actions: {
      ...actions,
      async finish(action, database, at) {
        await actions.finish(action, database, at)
        // If a user has set another goal, the action continues.
        const now = await actions.get(action.uid)
        if (now?.status === 'queued' || now?.status === 'running') return
        counters.ended.add(action.kind, action.error === null ? 'done' : 'failed')
      },
    },
    handovers: {
      ...handovers,
      async certify(handover, certificate) {
        await handovers.certify(handover, certificate)
        counters.handovers.add('moved')
        const { writeStopMs, heldMs, waited } = certificate
        if (writeStopMs !== null) counters.writeStopSeconds.observe(writeStopMs / 1_000)
        if (heldMs !== null) counters.heldSeconds.observe(heldMs / 1_000)
        if (waited !== undefined && waited.clients > 0)
          counters.longestWaitSeconds.observe(waited.longestMs / 1_000)
      },
      async close(id, certificate, at) {
        await handovers.close(id, certificate, at)
        if (certificate === null) counters.handovers.add('abandoned')
        // Its times are bounds, not measurements.
        else if (certificate.recovered) counters.handovers.add('recovered')
      },
    },
  }
}
