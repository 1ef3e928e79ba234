import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { expect, test, vi } from 'vitest'
import { createControlPlane } from '../../../src/app/app.ts'
import { loadConfig } from '../../../src/config/config.ts'

test('a server that waits for its PostgreSQL can be stopped meanwhile, and its home is free then', async () => {
  const home = await mkdtemp(join(tmpdir(), 'fairlead-'))
  const config = loadConfig({
    FAIRLEAD_HOME: home,
    FAIRLEAD_HTTP_PORT: '0',
    FAIRLEAD_HTTPS_PORT: '0',
    FAIRLEAD_STORE: `postgres://fairlead@localhost/fairlead?host=${home}`,
  })
  try {
    for (let times = 0; times < 2; times += 1) {
      const said: string[] = []
      const log = pino({ base: null }, { write: (line) => said.push(JSON.parse(line).msg) })
      const stop = new AbortController()
      const started = createControlPlane(config, { now: Date.now, log, stop: stop.signal })
      started.catch(() => undefined) // it is asked below
      await vi.waitUntil(() => said.includes('the server waits for its store'), { timeout: 30_000 })
      stop.abort()
      await expect(started).rejects.toThrow('aborted')
    }
  } finally {
    await rm(home, { recursive: true })
  }
})
