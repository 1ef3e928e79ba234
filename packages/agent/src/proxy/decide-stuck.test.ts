import type { LoopTurns } from '@fairlead/api'
import { expect, test } from 'vitest'
import { decideProxy, type ProxySilence } from './decide-proxy.ts'

const doing = 'takes requests of 127.0.0.1:4711 at db7'
const calm: LoopTurns = { loop: 'main', turns: 17, turnMs: 0, cpuMs: 0, idleMs: 0, doing: '' }
const last = { started: true, startedAt: 0, answered: true, ended: null, crashes: 0, streak: 0 }

function decide(turns: ProxySilence['turns'], silentMs = 60_000) {
  const activity = { doing: 'idle', idleMs: 0 } as const
  const answer: ProxySilence = { silentMs, activity, turns }
  return decideProxy({ now: 1_000_000, last, answer, isChild: true, hungAfterMs: 20_000 })
}

test('a loop is stuck after 10 s of processor time in one turn, whichever thread it is, and the decision says what it did', () => {
  const stuck = { ...calm, loop: 'worker 2', turnMs: 10_500, cpuMs: 10_000, doing }
  expect(decide([calm, stuck])).toEqual({
    kind: 'kill',
    why: 'was stuck in one piece of work for 10 s of processor time, and was killed: worker 2 takes requests of 127.0.0.1:4711 at db7',
  })
  expect(decide([calm, { ...stuck, cpuMs: 9_990 }])).toMatchObject({ kind: 'rest', state: 'running' })
})

test('a loop that got no processor time is not stuck, however long its turn lasts, and the reason names its work', () => {
  const starved = { ...calm, turnMs: 240_000, cpuMs: 3_000, doing }
  expect(decide([starved], 240_000)).toMatchObject({
    kind: 'rest',
    why: 'has not answered for 240 s: one piece of work has taken 240 s, and 3.0 s of processor time: main takes requests of 127.0.0.1:4711 at db7',
  })
})

test('a loop that waits in one turn, without a processor or a disk to wait for, is stuck after 20 s', () => {
  expect(decide([{ ...calm, turnMs: 30_000, idleMs: 19_999 }]).kind).toBe('rest')
  expect(decide([{ ...calm, turnMs: 30_000, idleMs: 20_000 }])).toMatchObject({
    kind: 'kill',
    why: 'was stuck in one piece of work, in which it did nothing for 20 s, and was killed: main does something that has no name',
  })
})

test('a proxy whose loops go on is not ended for late answers, but it is ended if it takes no orders for 5 minutes', () => {
  expect(decide([calm], 299_000)).toMatchObject({
    kind: 'rest',
    why: 'has not answered for 299 s: its loops go on',
  })
  expect(decide([calm], 300_000).why).toBe(
    'took no orders for 300 s, though its loops went on, and was killed',
  )
})

test('while its heartbeat thread is silent, the activity of the whole process decides, counted from then', () => {
  const working = (muteMs: number) => {
    const activity = { doing: 'works', idleMs: 0 } as const
    const answer: ProxySilence = { silentMs: 90_000, activity, turns: { muteMs } }
    return decideProxy({ now: 1_000_000, last, answer, isChild: true, hungAfterMs: 20_000 }).kind
  }
  expect([working(0), working(59_999), working(60_000)]).toEqual(['rest', 'rest', 'kill'])
})
