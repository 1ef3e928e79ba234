import { expect, test } from 'vitest'
import { fc } from '../../../../proof/properties.ts'
import type { ActivityKind } from '../process/watch-activity.ts'
import { decideSilent, type Loss, type Silence } from './decide-silent.ts'

const losses: readonly Loss[] = ['nothing', 'unsaved', 'everything', 'unknown']
const silence = (doing: ActivityKind, idleMs: number, loss: Loss, ordered = false): Silence => ({
  pid: 4711,
  forMs: 300_000,
  activity: { doing, idleMs },
  loss,
  onDisk: false,
  ordered,
  hungAfterMs: 20_000,
  primaryHungAfterMs: 120_000,
})

test('a process that works, or waits for its disk, is never killed, ordered or not', () => {
  for (const doing of ['works', 'disk'] as const)
    for (const loss of losses)
      for (const ordered of [false, true])
        for (const idleMs of [0, 300_000])
          expect(decideSilent(silence(doing, idleMs, loss, ordered))).toMatchObject({
            kind: 'leave',
            hung: false,
          })
})

test('an idle process is killed soon, late, by order, or never: it depends on the data that would be lost', () => {
  const at = (idleMs: number, loss: Loss, ordered = false) => {
    const verdict = decideSilent(silence('idle', idleMs, loss, ordered))
    return verdict.kind === 'leave' && verdict.hung ? 'hung' : verdict.kind
  }
  expect(losses.map((loss) => at(19_999, loss))).toEqual(['leave', 'leave', 'leave', 'leave'])
  expect(losses.map((loss) => at(20_000, loss))).toEqual(['kill', 'leave', 'leave', 'leave'])
  expect(losses.map((loss) => at(119_999, loss, true))).toEqual(['kill', 'leave', 'leave', 'leave'])
  expect(losses.map((loss) => at(120_000, loss))).toEqual(['kill', 'kill', 'hung', 'hung'])
  expect(losses.map((loss) => at(120_000, loss, true))).toEqual(['kill', 'kill', 'hung', 'kill'])
})

test('the message names the process, what it does, and what decides about it', () => {
  const alone = decideSilent(silence('stopped', 120_000, 'everything'))
  expect(alone.why).toBe(
    'has not answered for 300 s: it was stopped by a signal (kill -CONT 4711 lets it go on), or by a debugger; all data of the database would end with it, so a person has to decide (pid 4711): kill -KILL 4711 gives that data up; see docs/explain/busy-and-hung.md',
  )
  const among = decideSilent(silence('idle', 120_000, 'unknown'))
  expect(among.why).toContain('the server decides whether another shard takes its place')
  expect(decideSilent(silence('works', 0, 'everything')).why).toBe('has not answered for 300 s: it is busy')
})

test('a silence of less than a second is not reported: an engine may be slow at times', () => {
  const verdict = (forMs: number) => decideSilent({ ...silence('works', 0, 'everything'), forMs })
  expect([999, 1_000].map(verdict)).toMatchObject([{ isLong: false }, { isLong: true }])
})

test('the process with the only copy of data is never killed, whatever is observed', () => {
  fc.assert(
    fc.property(
      fc.constantFrom<ActivityKind>('works', 'disk', 'stopped', 'idle'),
      fc.nat(1e9),
      fc.boolean(),
      (doing, idleMs, ordered) => {
        expect(decideSilent(silence(doing, idleMs, 'everything', ordered)).kind).toBe('leave')
      },
    ),
  )
})
