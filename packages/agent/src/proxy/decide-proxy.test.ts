import { expect, test } from 'vitest'
import type { ActivityKind } from '../process/watch-activity.ts'
import { decideProxy, type ProxyObservation } from './decide-proxy.ts'

const last = { started: true, startedAt: 0, answered: true, ended: null, crashes: 0, streak: 0 }
const observation: ProxyObservation = {
  now: 1_000_000,
  last,
  answer: 'answers',
  isChild: false,
  hungAfterMs: 10_000,
}
const died = (streak: number, at = observation.now): ProxyObservation => ({
  ...observation,
  last: { ...last, streak, crashes: streak, ended: { at, how: 'died', why: 'signal SIGKILL' } },
  answer: 'gone',
})

test('the pause after a death begins with 100 ms, is doubled each time, and never exceeds 5 s', () => {
  const pauses = [1, 2, 3, 6, 7, 100].map((streak) => {
    const next = decideProxy(died(streak))
    return next.kind === 'rest' ? next.afterMs : next.kind
  })
  expect(pauses).toEqual([100, 200, 400, 3_200, 5_000, 5_000])
  expect(decideProxy(died(7, observation.now - 5_000)).kind).toBe('start')
  // The clock was set back by an hour.
  expect(decideProxy(died(7, observation.now + 3_600_000))).toMatchObject({ kind: 'rest', afterMs: 5_000 })
})

test('a proxy that died before it answered has failed, one that answered has exited, one that was stopped is started', () => {
  const dead = died(1)
  expect(decideProxy(dead)).toMatchObject({ state: 'exited', why: 'signal SIGKILL' })
  const young = { ...dead, last: dead.last && { ...dead.last, answered: false } }
  expect(decideProxy(young)).toMatchObject({ state: 'failed' })
  const stopped = { ...last, ended: { at: observation.now, how: 'stopped' as const, why: '' } }
  expect(decideProxy({ ...observation, last: stopped, answer: 'gone' }).kind).toBe('start')
})

test('silence is reported after a second, and an idle process is ended after the permitted time', () => {
  const silent = (silentMs: number, doing: ActivityKind = 'idle') => {
    const idleMs = doing === 'idle' || doing === 'stopped' ? silentMs : 0
    return decideProxy({
      ...observation,
      answer: { silentMs, activity: { doing, idleMs }, turns: { muteMs: silentMs } },
    })
  }
  expect(silent(999)).toMatchObject({ kind: 'rest', state: 'running', why: '' })
  expect(silent(2_000)).toMatchObject({ kind: 'rest', state: 'running', why: 'has not answered for 2.0 s' })
  expect(silent(10_000)).toEqual({
    kind: 'kill',
    why: 'did not answer for 10 s while it did nothing, and was killed',
  })
  expect(silent(10_000, 'stopped').kind).toBe('kill')
  // It is in one piece of work, which may end: its clients would lose their connections.
  expect(silent(29_999, 'works').kind).toBe('rest')
  expect(silent(30_000, 'works').kind).toBe('kill')
  expect(silent(9e9, 'disk').kind).toBe('rest')
})

test('one whose death is not reported is looked at often, and so is one that does not answer', () => {
  const pause = (different: Partial<ProxyObservation>) => {
    const next = decideProxy({ ...observation, ...different })
    return next.kind === 'rest' ? next.afterMs : next.kind
  }
  expect(pause({})).toBe(100)
  expect(pause({ isChild: true })).toBe(500)
  const silent = { silentMs: 500, activity: { doing: 'idle', idleMs: 500 }, turns: { muteMs: 500 } } as const
  expect(pause({ isChild: true, answer: silent })).toBe(100)
})

test('a first process is started, an interrupted start is repeated, and the exit of a process that is gone is recorded', () => {
  expect(decideProxy({ ...observation, last: null, answer: 'gone' }).kind).toBe('start')
  expect(decideProxy({ ...observation, last: { ...last, started: false }, answer: 'gone' }).kind).toBe(
    'start',
  )
  expect(decideProxy({ ...observation, answer: 'gone' }).kind).toBe('record-exit')
  expect(decideProxy({ ...observation, last: { ...last, answered: false } }).kind).toBe('mark-ready')
})
