import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { keepPart, ownCommand } from './keep-part.ts'

let folder: string
const program = process.argv[1] ?? ''
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'fairlead-'))
})
afterEach(async () => {
  process.argv[1] = program
  await rm(folder, { recursive: true })
})

test('a part that dies again and again is started again and again, after pauses that grow, and can be stopped in one', async () => {
  const main = join(folder, 'main.mjs')
  await writeFile(main, 'process.send({}); process.disconnect(); process.exitCode = 3')
  process.argv[1] = main
  const deaths: unknown[] = []
  const write = (line: string) => {
    const { name, deaths: count, how, afterMs } = JSON.parse(line)
    deaths.push({ name, count, how, afterMs })
  }
  const part = await keepPart('agent', ownCommand('agent', {}), pino({ base: null }, { write }))
  await vi.waitUntil(() => deaths.length >= 6, { timeout: 60_000, interval: 20 })
  const began = performance.now()
  await part[Symbol.asyncDispose]()
  expect(performance.now() - began).toBeLessThan(3_000)
  expect(deaths.slice(0, 6)).toEqual(
    [200, 400, 800, 1_600, 3_200, 6_400].map((afterMs, n) => ({
      name: 'agent',
      count: n + 1,
      how: 'exit code 3',
      afterMs,
    })),
  )
})
