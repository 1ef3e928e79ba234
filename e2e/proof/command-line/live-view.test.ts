import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { stripVTControlCharacters } from 'node:util'
import type { Action, ActionEvent, LanePatch } from '@fairlead/api'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { widthOf } from '../../../packages/cli/src/output/draw-table.ts'
import { commandLine } from '../../../proof/run-command-line.ts'
import { openScreen } from '../../../proof/screen.ts'
import { until } from '../../../proof/until.ts'

const cursor = { shown: '\u001b[?25h', hidden: '\u001b[?25l' }
const uid = '123e4567-e89b-12d3-a456-426614174000'
const time = '2026-11-26T07:39:14.650Z'
const runs = (engine: string, engine_version: string) => ({ engine, engine_version, modules: [] })
const first: Partial<Action> = {
  action_uid: uid,
  name: 'SMUpgradeBDB',
  object_name: 'orders',
  bdb_uid: null,
  phase: 'preparing',
  outcome: null,
  waiting: null,
  window_ends: null,
  began_time: time,
  creation_time: time,
  from: runs('redis', '7.0.15'),
  goal: runs('valkey', '9.1.2'),
  certificates: [],
  warnings: [],
  lanes: [],
}

/** A server with one upgrade of 64 groups, which goes as far as the test lets it. */
let stream: ServerResponse | undefined
let now = first
/** So many streams break off before they begin. */
let cuts = 0
const server = createServer((request, response) => {
  if (request.url?.includes('/events') !== true) {
    response.end(JSON.stringify(now))
    return
  }
  if (cuts > 0) {
    cuts -= 1
    request.destroy()
    return
  }
  stream = response.writeHead(200, { 'content-type': 'text/event-stream' })
  stream.flushHeaders()
})
let seq = 0
type Sent<T> = T extends ActionEvent ? Omit<T, 'seq' | 'time'> : never
function send(event: Sent<ActionEvent>) {
  seq += 1
  stream?.write(`id: ${seq}\nevent: ${event.type}\ndata: ${JSON.stringify({ ...event, seq, time })}\n\n`)
}
const lane = (group: number, more: Partial<LanePatch>): LanePatch => ({ group, state: 'waiting', ...more })
const groups = Array.from({ length: 64 }, (_, n) => n)
const certificate = (group: number) => ({
  from: String(group),
  to: String(group + 100),
  group,
  write_stop_ms: 9.23,
  held_ms: 12.4,
  longest_wait_ms: 11.8,
  offset_from: 77,
  offset_to: 77,
  keys: 2140,
  full_syncs: null,
  at: `${time}${group}`,
})

let line: ReturnType<typeof commandLine>
beforeAll(async () => {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  line = lineWith({})
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
})
function lineWith(env: Readonly<Record<string, string>>) {
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return commandLine({ FAIRLEAD_CONFIG: '/nonexistent', FAIRLEAD_SERVER: url, FAIRLEAD_TOKEN: 't', ...env })
}

/** Begins to watch; the answer says when its stream is there, and what the terminal shows. */
async function watch(size: { readonly columns: number; readonly rows: number }, by = line) {
  stream = undefined
  now = first
  const session = by.onTerminal(['actions', 'watch', uid], size)
  await until('it follows', () => stream)
  const screen = openScreen(size.columns, size.rows)
  let taken = 0
  const shown = () => {
    const text = session.shown()
    screen.write(text.slice(taken))
    taken = text.length
    return screen.shown()
  }
  const shows = (text: string) =>
    until(
      () => `it shows ${text}: ${shown().join('\n')}`,
      () => shown().join('\n').includes(text),
    )
  return { session, screen, shown, shows }
}

test('64 groups fit on any terminal, also while its size changes; each fact stays above, once', async () => {
  const { session, screen, shown, shows } = await watch({ columns: 80, rows: 24 })
  send({ type: 'lanes', lanes: groups.map((group) => lane(group, { state: 'running' })) })
  await shows('64 at work')
  expect(shown().length).toBeLessThanOrEqual(24)
  send({ type: 'handover', certificate: certificate(0) } as Sent<ActionEvent>)
  await shows('handover 0 -> 100')
  // What is drawn while the size changes is folded as at the old size, as on a real terminal.
  for (const [columns, rows] of [
    [40, 10],
    [200, 60],
    [40, 24],
  ] as const) {
    const at = session.shown().length
    screen.resize(columns, rows)
    await session.resize({ columns, rows })
    await until(
      'it is drawn anew',
      () => session.shown().length > at && session.shown().endsWith('\u001b[?2026l'),
    )
  }
  const frame = () => stripVTControlCharacters(session.shown().split('\u001b[J').at(-1) ?? '').split('\r\n')
  await until('no row is wider than the terminal', () => frame().every((row) => widthOf(row) < 40))
  for (const group of groups.slice(1))
    send({ type: 'handover', certificate: certificate(group) } as Sent<ActionEvent>)
  send({ type: 'lanes', lanes: groups.map((group) => lane(group, { state: 'done', handed_over: true })) })
  await shows('64 handed over')
  now = { ...first, phase: 'window', rollback_eligible: true }
  send({ type: 'action', phase: 'window', window_ends: null } as Sent<ActionEvent>)
  expect(await session.ended).toBe(0)
  const text = shown().join('')
  for (const group of groups) expect(text.split(`handover ${group} -> `)).toHaveLength(2)
  const end = text.slice(text.lastIndexOf('handover 63 -> '), text.indexOf('served by valkey 9.1.2.'))
  expect(end).toContain('2140 keys')
  expect(end).not.toContain('at work')
  expect([screen.hasCursor(), screen.unknown]).toEqual([true, []])
})

test('Ctrl-Z gives the terminal back with its cursor, and what goes on draws below; SIGTERM ends it with 143', async () => {
  cuts = 2
  const { session, screen, shown, shows } = await watch({ columns: 40, rows: 10 })
  expect(cuts).toBe(0)
  send({ type: 'action', phase: 'ready' } as Sent<ActionEvent>)
  // On a narrow terminal the command is whole, too.
  await shows('\n  fairlead actions resume orders\n')
  expect(screen.hasCursor()).toBe(false)
  const drawn = session.shown().length
  await session.stopAndGoOn()
  const since = () => session.shown().slice(drawn)
  await until('it draws again', () => since().split(cursor.shown)[1]?.includes('resume orders'))
  const [before, after = ''] = since().split(cursor.shown)
  const below = openScreen(40, 10)
  below.write(`${session.shown().slice(0, drawn)}${before}$ ls\r\nfile\r\n${after}`)
  expect(below.shown().join('\n')).toMatch(/resume orders\n\$ ls\nfile\n[\s\S]*resume orders/)
  expect(after).toContain(cursor.hidden)
  await session.signal('SIGTERM')
  expect(await session.ended).toBe(143)
  expect(shown().join('').replaceAll(/\s+/g, ' ')).toContain('It goes on without you')
  expect([screen.hasCursor(), screen.unknown]).toEqual([true, []])
})

test.each([
  [{ NO_COLOR: '1' }, ['\u001b[1m', '\u001b[33m']],
  [{ TERM: 'dumb' }, ['\u001b']],
])('with %j nothing is sent of %j', async (env, orders) => {
  const { session, shows } = await watch({ columns: 80, rows: 24 }, lineWith(env))
  send({ type: 'action', phase: 'ready' } as Sent<ActionEvent>)
  await shows('Ready for your go')
  now = { ...first, phase: 'ended', outcome: 'cancelled' }
  send({ type: 'action', phase: 'ended', outcome: 'cancelled' } as Sent<ActionEvent>)
  expect(await session.ended).toBe(8)
  expect(session.shown()).toContain('served by redis 7.0.15.')
  for (const order of orders) expect(session.shown()).not.toContain(order)
})
