import { expect, test } from 'vitest'
import { fc } from '../../../../proof/properties.ts'
import type { Answer } from '../engine/ask-engine.ts'
import type { Silence } from '../engine/decide-silent.ts'
import { decideNext, type Observation } from './decide-next.ts'

type Last = NonNullable<Observation['last']>
const running: Last = {
  order: 1,
  started: true,
  startedAt: 0,
  answered: true,
  proven: true,
  ended: null,
  crashes: 0,
  streak: 0,
}
const died: Last = {
  ...running,
  ended: { at: 100_000, how: 'died', why: 'signal SIGSEGV' },
  crashes: 3,
  streak: 3,
}
const stopped: Last = { ...running, ended: { at: 100_000, how: 'stopped', why: 'was stopped' } }
const observation = (
  over: Partial<Observation>,
  onCrash: 'restart' | 'wait' = 'restart',
  order = 1,
): Observation => ({
  now: 100_000,
  wanted: { order, gone: false, onCrash },
  last: running,
  answer: { kind: 'pong' },
  refusedToStop: null,
  ...over,
})
const silent = (forMs: number, over: Partial<Silence> = {}): Answer => ({
  kind: 'silent',
  silence: {
    pid: 7,
    forMs,
    activity: { doing: 'idle', idleMs: forMs },
    loss: 'nothing',
    onDisk: false,
    ordered: false,
    hungAfterMs: 10_000,
    primaryHungAfterMs: 100_000,
    ...over,
  },
})
const gone = { order: 1, gone: true, onCrash: 'restart' } as const

test.for<[string, Observation, object]>([
  ['a new shard is started', observation({ last: null, answer: 'gone' }), { kind: 'start' }],
  ['a process that answers is running', observation({}), { kind: 'rest', state: 'running', why: '' }],
  [
    'the first answer is noted',
    observation({ last: { ...running, answered: false } }),
    { kind: 'mark-ready' },
  ],
  [
    'a process that loads is starting, however long it takes',
    observation({ last: { ...running, answered: false }, answer: { kind: 'loading' }, now: 9e12 }),
    { kind: 'rest', state: 'starting', why: 'loads its data' },
  ],
  [
    'a process that is silent for a while is still running',
    observation({ answer: silent(9_999) }),
    { kind: 'rest', state: 'running', why: 'has not answered for 10.0 s: it does nothing' },
  ],
  [
    'a silent process that does nothing for too long, and loses nothing, is killed',
    observation({ answer: silent(10_000) }),
    { kind: 'kill' },
  ],
  [
    'a process that works is not killed, however long it is silent',
    observation({ answer: silent(9e9, { activity: { doing: 'works', idleMs: 0 } }) }),
    { kind: 'rest', state: 'running', why: 'has not answered for 9000000 s: it is busy' },
  ],
  ['another revision replaces the process', observation({}, 'restart', 2), { kind: 'stop', save: true }],
  [
    'a process that refuses to stop runs on',
    observation({ refusedToStop: 'disk full' }, 'restart', 2),
    { kind: 'rest', state: 'running', why: 'cannot be stopped: disk full' },
  ],
  [
    'a process that is to be removed need not save',
    observation({ wanted: gone }),
    { kind: 'stop', save: false },
  ],
  [
    'a shard that is to be removed is deleted when its process has ended',
    observation({ wanted: gone, last: died, answer: 'gone' }),
    { kind: 'delete' },
  ],
  [
    'a shard that is to be removed and never ran is deleted',
    observation({ wanted: gone, last: null, answer: 'gone' }),
    { kind: 'delete' },
  ],
  [
    'the exit of a process that vanished is recorded',
    observation({ answer: 'gone' }),
    { kind: 'record-exit' },
  ],
  [
    'an interrupted start is repeated',
    observation({ last: { ...running, started: false, answered: false }, answer: 'gone' }),
    { kind: 'start' },
  ],
  [
    'a process that died waits for its back-off',
    observation({ last: died, answer: 'gone', now: 100_100 }),
    {
      kind: 'rest',
      state: 'exited',
      afterMs: 300,
      why: 'exited 3 times, next start in 300 ms: signal SIGSEGV',
    },
  ],
  [
    'and is started after the back-off',
    observation({ last: died, answer: 'gone', now: 100_400 }),
    { kind: 'start' },
  ],
  [
    'a clock that was set back does not delay the start for long',
    observation({ last: died, answer: 'gone', now: 0 }),
    { kind: 'rest', afterMs: 400 },
  ],
  [
    'a shard waits for the server if others may have newer data',
    observation({ last: died, answer: 'gone', now: 9e12 }, 'wait'),
    { kind: 'rest', state: 'exited', why: 'signal SIGSEGV; waits until the server orders its start' },
  ],
  ['until it is put again', observation({ last: died, answer: 'gone' }, 'wait', 2), { kind: 'start' }],
  [
    'a process that never answered has failed',
    observation({ last: { ...died, answered: false, proven: false }, answer: 'gone', now: 9e12 }),
    { kind: 'rest', state: 'failed', why: 'signal SIGSEGV' },
  ],
  [
    'a process that answered before it crashed is tried again although its restart did not answer',
    observation({ last: { ...died, answered: false }, answer: 'gone', now: 9e12 }),
    { kind: 'start' },
  ],
  [
    'a shard that was stopped with all others is started',
    observation({ last: stopped, answer: 'gone' }),
    { kind: 'start' },
  ],
  [
    'but not a shard that waits for the server',
    observation({ last: stopped, answer: 'gone' }, 'wait'),
    { kind: 'rest', state: 'exited', why: 'was stopped; waits until the server orders its start' },
  ],
  [
    'a stop for a new process is followed by its start',
    observation({ last: stopped, answer: 'gone' }, 'wait', 2),
    { kind: 'start' },
  ],
])('%s', ([, seen, next]) => {
  expect(decideNext(seen)).toMatchObject(next)
})

const anyEnd = fc.option(
  fc.record({ at: fc.nat(200_000), how: fc.constantFrom('stopped', 'died'), why: fc.constant('why') }),
)
const anyAnswer: fc.Arbitrary<Answer | 'gone'> = fc.oneof(
  fc.constant('gone' as const),
  fc.constant({ kind: 'pong' } as const),
  fc.constant({ kind: 'loading' } as const),
  fc.constant({ kind: 'busy', why: 'why' } as const),
  fc.nat(20_000).map((forMs) => silent(forMs)),
)
const anySight: fc.Arbitrary<Observation> = fc.record({
  now: fc.nat(200_000),
  wanted: fc.record({
    order: fc.integer({ min: 1, max: 3 }),
    gone: fc.boolean(),
    onCrash: fc.constantFrom('restart', 'wait'),
  }),
  last: fc.option(
    fc.record({
      order: fc.integer({ min: 1, max: 3 }),
      started: fc.boolean(),
      startedAt: fc.nat(200_000),
      answered: fc.boolean(),
      proven: fc.boolean(),
      ended: anyEnd,
      crashes: fc.nat(9),
      streak: fc.nat(9),
    }),
  ),
  answer: anyAnswer,
  refusedToStop: fc.option(fc.constant('why')),
})

test('for every observation: no second process beside a live one, no start of a waiting or removed shard, no busy loop', () => {
  fc.assert(
    fc.property(anySight, (seen) => {
      const next = decideNext(seen)
      const alive = seen.answer !== 'gone' && seen.last !== null
      if (alive) expect(['start', 'record-exit', 'delete']).not.toContain(next.kind)
      if (!alive) expect(['stop', 'kill', 'mark-ready']).not.toContain(next.kind)
      if (seen.wanted.gone) expect(next.kind).not.toBe('start')
      const waits = seen.wanted.onCrash === 'wait' && seen.last?.ended && seen.last.order >= seen.wanted.order
      if (waits) expect(next.kind).not.toBe('start')
      if (next.kind === 'rest') expect(next.afterMs).toBeGreaterThan(0)
    }),
  )
})

test.each([
  [0, 10],
  [50, 10],
  [100, 20],
  [2_000, 50],
  [-3_600_000, 50],
])(
  'a process that was started %s ms ago and does not answer yet is looked at again after %s ms',
  (age, afterMs) => {
    const young = { ...running, startedAt: 100_000 - age, answered: false, proven: false }
    const unanswered: Answer = { kind: 'loading' }
    expect(decideNext(observation({ last: young, answer: unanswered }))).toMatchObject({
      kind: 'rest',
      afterMs,
    })
  },
)
