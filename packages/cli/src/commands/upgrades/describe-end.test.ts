import type { Action } from '@fairlead/api'
import { expect, test } from 'vitest'
import { plainGlyphs } from '../../output/terminal.ts'
import { describeEnd } from './watch-action.ts'

const describe = (more: Partial<Action>) =>
  describeEnd({ terminal: { glyphs: plainGlyphs, outIsTerminal: false } as never }, 'orders', {
    action_uid: 'a-uid',
    outcome: null,
    certificates: [],
    warnings: [],
    window_ends: null,
    from: { engine: 'redis', engine_version: '7.0.15', modules: [] },
    goal: { engine: 'valkey', engine_version: '9.1.2', modules: [] },
    ...more,
  } as Action) // it uses no more of it

test('before its handover, the former build is told to serve', () => {
  expect(describe({ phase: 'ready' })).toContain('orders is still served by redis 7.0.15.')
  expect(describe({ phase: 'ended', outcome: 'rolled_back' })).toContain('orders is served by redis 7.0.15.')
})

test('a way back is told only while there is one', () => {
  const served = 'orders is served by valkey 9.1.2.   action a-uid\n'
  const back =
    '  way back until it is finalized:   fairlead actions rollback orders     end it now:   fairlead actions finalize orders\n'
  expect(describe({ phase: 'window' })).toBe(`${served}${back}`)
  expect(describe({ phase: 'finishing' })).toBe(served)
})
