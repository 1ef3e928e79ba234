import { chmod, chown, mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Logger, pino } from 'pino'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openHome } from './open-home.ts'

let parent: string
let home: string
let lines: { level: number; msg: string; was?: string }[]
let log: Logger
beforeEach(async () => {
  parent = await mkdtemp(join(tmpdir(), 'fairlead-'))
  home = join(parent, 'a', 'home')
  lines = []
  log = pino({ level: 'info' }, { write: (line: string) => void lines.push(JSON.parse(line)) })
})
afterEach(() => rm(parent, { recursive: true }))

const modeOf = async (path: string) => (await stat(path)).mode & 0o777

test('a missing home is created, for its owner only', async () => {
  openHome(home, log)
  openHome(home, log)
  expect(await modeOf(home)).toBe(0o700)
  expect(lines).toEqual([])
})

test('a home that others could enter is closed to them, and the log says so: as a warning if it held a store', async () => {
  await mkdir(home, { recursive: true })
  await chmod(home, 0o755)
  openHome(home, log)
  expect(await modeOf(home)).toBe(0o700)
  await writeFile(join(home, 'store.db'), '')
  await chmod(home, 0o750)
  openHome(home, log)
  expect(await modeOf(home)).toBe(0o700)
  expect(lines.map(({ level, was }) => [level, was])).toEqual([
    [30, '755'],
    [40, '750'],
  ])
})

test.runIf(process.getuid?.() === 0)('a home of another user is refused, and left as it is', async () => {
  await mkdir(home, { recursive: true })
  await chmod(home, 0o755)
  await chown(home, 65_534, 65_534)
  expect(() => openHome(home, log)).toThrow(
    `FAIRLEAD_HOME ${home} belongs to user 65534, and Fairlead runs as user 0`,
  )
  expect(await modeOf(home)).toBe(0o755)
})

test.runIf(process.getuid?.() === 0)(
  'a home in a folder where other users may replace it is told of, with the folder',
  async () => {
    openHome(home, log)
    const folder = join(parent, 'a')
    await chmod(folder, 0o1777)
    openHome(home, log)
    expect(lines).toEqual([])
    await chmod(folder, 0o777)
    openHome(home, log)
    await chmod(folder, 0o775)
    await chown(folder, 0, 65_534)
    openHome(home, log)
    await chmod(folder, 0o755)
    openHome(home, log)
    await chown(folder, 65_534, 0)
    openHome(home, log)
    const told = { level: 40, folder }
    expect(lines).toMatchObject([
      { ...told, by: 'all users' },
      { ...told, by: 'group 65534' },
      { ...told, by: 'user 65534' },
    ])
    expect(lines).toHaveLength(3)
  },
)
