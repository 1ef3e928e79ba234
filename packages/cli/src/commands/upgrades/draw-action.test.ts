import type { Action, ActionLane } from '@fairlead/api'
import { expect, test } from 'vitest'
import { plainGlyphs } from '../../output/terminal.ts'
import { drawAction, type View } from './draw-action.ts'

const began = '2026-11-26T07:39:14.000Z'
const lane = (group: number, more: Partial<ActionLane> = {}): ActionLane => ({
  group,
  state: 'waiting',
  handed_over: false,
  steps: [],
  steps_left_out: 0,
  sync: null,
  lag_bytes: null,
  waiting: {
    on: 'group',
    hold_reason: 'other_groups',
    shard: null,
    since: began,
    until: null,
    why: 'waits for the others',
  },
  ...more,
})
const sync = { shard: '11', done: 1_288_490_189, total: 3_328_599_655, bytes_per_s: 220_200_960 }
const action = (more: Partial<Action>) =>
  ({
    phase: 'preparing',
    outcome: null,
    waiting: null,
    window_ends: null,
    began_time: began,
    creation_time: began,
    from: { engine: 'redis', engine_version: '7.0.15', modules: [] },
    goal: { engine: 'valkey', engine_version: '9.1.2', modules: [] },
    ...more,
  }) as Action // the view uses no more of it
const draw = (more: Partial<Action>, view: Partial<View> = {}, rows = 24) => {
  const terminal = {
    glyphs: plainGlyphs,
    paint: (_: string, text: string) => text,
    columns: () => 80,
    rows: () => rows,
  }
  const lines = drawAction(action(more), {
    terminal,
    name: 'orders',
    nowMs: Date.parse(began) + 66_000,
    awaySinceMs: undefined,
    ...view,
  })
  return lines.map(({ text }) => text)
}

test('a full sync is shown with its bytes, its speed and what is left; a server that is away is named', () => {
  const lanes = [lane(0, { state: 'running', waiting: null, sync })]
  expect(draw({ lanes }, { awaySinceMs: Date.parse(began) + 54_000 })).toEqual([
    'orders  redis 7.0.15 -> valkey 9.1.2   Prepares the new shards   1:06   Ctrl-C leaves it running',
    '  group 0  ~ full sync to 11   1.2 GiB of 3.1 GiB   210 MiB/s   9 s left',
    '  server away for 12 s, trying; databases are not affected',
  ])
})

test('of many groups their numbers are shown, and those that need a look first', () => {
  const lanes = Array.from({ length: 64 }, (_, group) =>
    group < 41 ? lane(group, { state: 'done', handed_over: true, waiting: null }) : lane(group),
  )
  const why = 'shard 9 cannot read the data'
  const stuck = lane(50, { state: 'stuck' })
  const waiting = stuck.waiting && { ...stuck.waiting, why }
  const lines = draw({ lanes: lanes.with(50, { ...stuck, waiting }) })
  expect(lines.length).toBe(17)
  expect(lines.slice(1, 4)).toEqual([
    '  + 41 handed over   ~ 0 at work   . 22 wait   ! 1 stuck',
    `  group 50  ! ${why}`,
    '  group 41  . waits for the others',
  ])
  expect(draw({ lanes }, {}, 10).length).toBe(3)
})

test('what waits for a person says the command, and a way back how long it is there', () => {
  expect(draw({ phase: 'ready', lanes: [] }).at(-1)).toBe(
    '  ? ready; waits for you:   fairlead actions resume orders',
  )
  const hung = { on: 'person', hold_reason: 'save_failed', shard: '1', since: began, until: null } as const
  const orders = { retry: { ok: true }, redo: { ok: false } } as unknown as Action['orders']
  expect(
    draw({ phase: 'stuck', waiting: { ...hung, why: 'shard 1 cannot write' }, orders, lanes: [] }).slice(-1),
  ).toEqual(['  ? fairlead actions retry orders'])
  const window = {
    phase: 'window',
    rollback_eligible: true,
    window_ends: '2026-11-26T07:54:52.000Z',
  } as const
  expect(draw({ ...window, lanes: [] }).at(-1)).toBe('  way back: yes (14:32 left)')
})
