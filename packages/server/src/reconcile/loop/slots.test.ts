import { expect, test } from 'vitest'
import { fc } from '../../../../../proof/properties.ts'
import { createSlots, type Queue } from './slots.ts'

const queue = fc.constantFrom<Queue>('handover', 'action', 'watch')
const happening = fc.oneof(
  fc.record({ kind: fc.constant('ask' as const), uid: fc.integer({ min: 1, max: 20 }), queue }),
  fc.record({ kind: fc.constant('end' as const), nth: fc.nat() }),
)

// invariant: Work on a database does not wait for routine looks at others.
test('in any order of requests, each database gets one place, and no queue takes places of another', () => {
  fc.assert(
    fc.property(fc.array(happening, { maxLength: 120 }), (happenings) => {
      const slots = createSlots(5, { handover: Number.POSITIVE_INFINITY, action: 4, watch: 3 })
      const asked = new Map<number, Queue>()
      const running: { uid: number; queue: Queue }[] = []
      const fill = () => {
        for (let next = slots.take(); next !== undefined; next = slots.take()) {
          // It gets its slot from the first queue that it has asked since its last turn, or from one with
          // precedence.
          expect(asked.has(next.uid)).toBe(true)
          asked.delete(next.uid)
          running.push(next)
        }
        const of = (queue: Queue) => running.filter((one) => one.queue === queue).length
        expect(of('action')).toBeLessThanOrEqual(4)
        expect(of('watch')).toBeLessThanOrEqual(3)
        expect([...asked.values()].includes('handover')).toBe(false)
        const isFull = running.length >= 5
        const waits = (queue: Queue) => [...asked.values()].includes(queue)
        if (waits('action')) expect(isFull || of('action') === 4).toBe(true)
        if (waits('watch')) expect(isFull || of('watch') === 3).toBe(true)
      }
      for (const one of happenings) {
        if (one.kind === 'ask' && running.some(({ uid }) => uid === one.uid)) continue
        if (one.kind === 'ask') {
          slots.ask(one.uid, one.queue)
          const order: readonly Queue[] = ['handover', 'action', 'watch']
          const before = asked.get(one.uid) ?? 'watch'
          asked.set(one.uid, order.indexOf(before) < order.indexOf(one.queue) ? before : one.queue)
        } else {
          const [ended] = running.splice(one.nth % Math.max(1, running.length), 1)
          if (ended !== undefined) slots.free(ended.queue)
        }
        fill()
      }
    }),
  )
})
