import { expect, test } from 'vitest'
import type { Certificate } from '../../core/state/action.ts'
import { createCounters } from '../../observe/metrics/counters.ts'
import { countRecords } from './count-records.ts'
import type { Records } from './stored-records.ts'

const certificate: Certificate = {
  from: 1,
  to: 2,
  replid: 'a',
  offsetFrom: 1,
  offsetTo: 1,
  keys: 0,
  recovered: false,
  writeStopMs: 4,
  heldMs: 20,
  fullSyncs: null,
  at: '2026-11-20T12:00:00.000Z',
}

test('of a handover counts how long clients waited, where any waited', async () => {
  const counters = createCounters()
  const handovers = { certify: async () => undefined, close: async () => undefined }
  // As much of the records as is asked here.
  const records = { actions: {}, handovers } as unknown as Records
  const { certify } = countRecords(records, counters).handovers
  const handover = {} as Parameters<typeof certify>[0]
  const counts = () =>
    [counters.heldSeconds, counters.longestWaitSeconds].map((each) => each.counts.reduce((sum, n) => sum + n))
  await certify(handover, certificate)
  await certify(handover, { ...certificate, waited: { clients: 0, requests: 0, longestMs: 0 } })
  expect(counts()).toEqual([2, 0])
  await certify(handover, { ...certificate, waited: { clients: 3, requests: 5, longestMs: 250 } })
  expect(counts()).toEqual([3, 1])
  expect(counters.longestWaitSeconds.sum).toBeCloseTo(0.25)
})
