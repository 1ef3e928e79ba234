import { createEffect, type EngineConnection } from '@fairlead/engine'
import { expect, test } from 'vitest'
import {
  carryChanges,
  carryLateChanges,
  carrySettings,
  readSource,
} from '../../../../src/reconcile/carry-over/carry-settings.ts'
import { readParameters, readUserLines } from '../../../../src/reconcile/carry-over/read-settings.ts'
import { builds } from '../../../engine.ts'
import { startPair } from '../../../settings-pair.ts'

const [oldest, newest] = [builds.at(0), builds.at(-1)]
if (oldest === undefined || newest === undefined) throw new Error('no engine builds here')
const effect = createEffect(() => undefined)

test('users and settings that are changed while they are carried are looked at again, and are no reason to fail', async () => {
  await using pair = await startPair(oldest, newest)
  const { admin } = pair.from
  await admin.call('ACL', 'SETUSER', 'app', 'on', '>first', '~app:*', '+get')
  await admin.call('ACL', 'SETUSER', 'gone', 'on', '>first', '~*', '+get')
  const changes = [
    ['ACL', 'SETUSER', 'app', 'off'],
    ['ACL', 'DELUSER', 'gone'],
    ['ACL', 'SETUSER', 'app', 'on', '+set'],
    ['CONFIG', 'SET', 'hz', '33'],
    ['ACL', 'SETUSER', 'late', 'on', '>second', '~*', '+get'],
  ]
  const to = before(pair.to.admin, async () => {
    const [command = '', ...args] = changes.shift() ?? ['PING']
    await admin.call(command, ...args)
  })
  expect((await carrySettings({ ...pair.pair, to, effect })).obstacles).toEqual({ users: [], settings: [] })
  expect(changes).toEqual([])
  const names = await namesAt(pair.to.admin)
  expect(names).toEqual(expect.arrayContaining(['app', 'late']))
  expect(names).not.toContain('gone')
  expect((await readUserLines(pair.to.admin)).find((line) => line.startsWith('user app '))).toMatch(
    / on .*set/,
  )
  expect(await readParameters(pair.to.admin)).toMatchObject({ hz: '33' })
})

test('users that never stop changing end the look, and are no obstacle', async () => {
  await using pair = await startPair(oldest, newest)
  const { admin } = pair.from
  let n = 0
  const change = async () => void (await admin.call('ACL', 'SETUSER', 'app', `~app:${++n}:*`))
  await change()
  const to = before(pair.to.admin, async (words) => (words[1] === 'SETUSER' ? change() : undefined))
  expect((await carrySettings({ ...pair.pair, to, effect })).obstacles).toEqual({ users: [], settings: [] })
  expect(n).toBeGreaterThan(5)
  // What was seen in the end, and not carried, is for the next look.
  await carryChanges({ ...pair.pair, to, effect })
  expect((await readUserLines(to)).join('\n')).toContain(`~app:${n - 1}:*`)
})

test('later changes of the source are carried, and those that were made at the target meanwhile stay', async () => {
  await using pair = await startPair(oldest, newest)
  const [from, to] = [pair.from.admin, pair.to.admin]
  for (const name of ['app', 'gone', 'other'])
    await from.call('ACL', 'SETUSER', name, 'on', '>first', '~*', '+get')
  await from.call('CONFIG', 'SET', 'slowlog-max-len', '77')
  await carrySettings({ ...pair.pair, effect })
  expect(await readParameters(to)).toMatchObject({ 'slowlog-max-len': '77' })

  await from.call('ACL', 'DELUSER', 'gone')
  await from.call('ACL', 'SETUSER', 'app', 'off')
  await from.call('CONFIG', 'SET', 'hash-max-ziplist-entries', '99')
  // Back to the value with which it started.
  await from.call('CONFIG', 'SET', 'slowlog-max-len', '128')
  await to.call('ACL', 'DELUSER', 'other')
  await to.call('ACL', 'SETUSER', 'new', 'on')
  await to.call('CONFIG', 'SET', 'hz', '44')
  const { carried, obstacles } = await carryChanges({ ...pair.pair, effect })
  expect(obstacles).toEqual({ users: [], settings: [] })
  expect(carried.toSorted()).toEqual([
    expect.stringMatching(/^setting hash-max-(zip|list)(list|pack)-entries$/),
    expect.stringMatching(/^setting (slowlog-max-len|commandlog-slow-execution-max-len)$/),
    'user app',
    'user gone',
  ])
  expect((await namesAt(to)).toSorted()).toEqual(['app', 'default', 'fairlead', 'new'])
  const settings = { hz: '44', 'hash-max-ziplist-entries': '99', 'slowlog-max-len': '128' }
  expect(await readParameters(to)).toMatchObject(settings)
})

test('what is changed during such a look is found by the next one', async () => {
  await using pair = await startPair(oldest, newest)
  const { admin } = pair.from
  const to = before(pair.to.admin, async ([, , name]) => {
    if (name === 'first') await admin.call('ACL', 'SETUSER', 'second', 'on')
  })
  await carrySettings({ ...pair.pair, to, effect })
  await admin.call('ACL', 'SETUSER', 'first', 'on')
  await carryChanges({ ...pair.pair, to, effect })
  await carryChanges({ ...pair.pair, to, effect })
  expect((await namesAt(to)).toSorted()).toEqual(['default', 'fairlead', 'first', 'second'])
})

test('when the target serves, only what the source changed since is carried, though its users never stopped changing', async () => {
  await using pair = await startPair(oldest, newest)
  const [from, target] = [pair.from.admin, pair.to.admin]
  for (const name of ['app', 'gone', 'late']) await from.call('ACL', 'SETUSER', name, 'on', '>first', '+get')
  let n = 0
  const to = before(target, async ([, order]) => {
    if (order === 'SETUSER') await from.call('ACL', 'SETUSER', 'app', `~app:${++n}:*`)
  })
  await carrySettings({ ...pair.pair, to, effect })
  await carryChanges({ ...pair.pair, to, effect })
  await target.call('ACL', 'DELUSER', 'gone')
  await target.call('ACL', 'SETUSER', 'new', 'on')
  await from.call('ACL', 'SETUSER', 'late', 'off')
  expect(await carryLateChanges({ ...pair.pair, to, effect }, await readSource(from))).toMatchObject({
    carried: ['user app', 'user late'],
  })
  expect((await namesAt(target)).toSorted()).toEqual(['app', 'default', 'fairlead', 'late', 'new'])
})

test('what clients of a serving target change right after a carry is no obstacle', async () => {
  await using pair = await startPair(oldest, newest)
  const [from, target] = [pair.from.admin, pair.to.admin]
  await from.call('ACL', 'SETUSER', 'app', 'on', '>first', '+get')
  let isGiven = false
  const to = before(target, async ([, order]) => {
    if (isGiven) await target.call('ACL', 'SETUSER', 'app', 'on')
    isGiven = order === 'SETUSER'
  })
  await carrySettings({ ...pair.pair, to: target, effect })
  await carrySettings({ ...pair.pair, to, effect })
  await from.call('ACL', 'SETUSER', 'app', 'off')
  expect(await carryLateChanges({ ...pair.pair, to, effect }, await readSource(from))).toEqual({
    carried: ['user app'],
    obstacles: { users: [], settings: [] },
  })
})

test('when the target serves, and it is not known what it was given, nothing is carried', async () => {
  await using pair = await startPair(oldest, newest)
  await pair.from.admin.call('ACL', 'SETUSER', 'gone', 'on')
  expect(await carryLateChanges({ ...pair.pair, effect }, await readSource(pair.from.admin))).toBeUndefined()
  expect(await namesAt(pair.to.admin)).not.toContain('gone')
})

test('while nothing has changed, two questions to the source are all', async () => {
  await using pair = await startPair(oldest, newest)
  await pair.from.admin.call('ACL', 'SETUSER', 'app', 'on', '>first', '~*', '+get')
  const asked: string[] = []
  const noted = (name: string, engine: EngineConnection) =>
    before(engine, async (words) => void asked.push(`${name} ${words.join(' ')}`))
  const [from, to] = [noted('source', pair.from.admin), noted('target', pair.to.admin)]
  await carrySettings({ ...pair.pair, from, to, effect })
  asked.length = 0
  await carryChanges({ ...pair.pair, from, to, effect })
  // What Fairlead itself sets does not count.
  await pair.from.admin.call('CONFIG', 'SET', 'maxmemory', '100000000')
  await carryChanges({ ...pair.pair, from, to, effect })
  expect(asked.toSorted()).toEqual([
    ...Array(2).fill('source ACL LIST'),
    ...Array(2).fill('source CONFIG GET *'),
  ])
})

/** The same engine; each command comes after `act`. */
function before(
  engine: EngineConnection,
  act: (words: readonly string[]) => Promise<void>,
): EngineConnection {
  return {
    ...engine,
    usable: true,
    async call(command, ...args) {
      await act([command, ...args].map(String))
      return await engine.call(command, ...args)
    },
  }
}

async function namesAt(engine: EngineConnection): Promise<readonly string[]> {
  return (await readUserLines(engine)).map((line) => line.split(' ')[1] ?? '')
}
