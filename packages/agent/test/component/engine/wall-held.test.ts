import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import pino from 'pino'
import { expect, test } from 'vitest'
import { openEngineWall } from '../../../src/engine/engine-wall.ts'

const isRoot = process.getuid?.() === 0
const logger = pino({ level: 'silent' })
const probe = makeHome()
const { missing } = await openEngineWall(probe.path, true, logger)
probe[Symbol.dispose]()

// invariant: A process that had a sandbox does not run as root again after an error.
test.runIf(missing === null)(
  'on a home where walls have worked, a wall that cannot be built is tried again, and without one nothing starts as root',
  async () => {
    using home = makeHome()
    // No wall has worked here yet: nothing is different.
    const inTheWay = join(home.path, 'wall')
    writeFileSync(inTheWay, '')
    expect((await openEngineWall(home.path, true, logger)).missing).toContain('EEXIST')
    await rm(inTheWay)
    expect((await openEngineWall(home.path, true, logger)).missing).toBeNull()

    rmSync(inTheWay, { recursive: true })
    writeFileSync(inTheWay, '')
    const opened = openEngineWall(home.path, true, logger)
    await pause(50)
    if (isRoot) rmSync(inTheWay)
    if (!isRoot) return expect((await opened).missing).toContain('EEXIST')
    expect((await opened).missing).toBeNull()

    rmSync(inTheWay, { recursive: true })
    writeFileSync(inTheWay, '')
    await expect(openEngineWall(home.path, true, logger)).rejects.toThrow(
      /^walls have worked on this home, and none can be built now: .*EEXIST.* FAIRLEAD_ENGINE_WALL=off$/,
    )
    // A person may switch the wall off: then everything is as at the beginning.
    expect((await openEngineWall(home.path, false, logger)).missing).toBe('FAIRLEAD_ENGINE_WALL is off')
    expect((await openEngineWall(home.path, true, logger)).missing).toContain('EEXIST')
  },
)

function makeHome(): Disposable & { readonly path: string } {
  const path = mkdtempSync(join(tmpdir(), 'held-'))
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) }
}
