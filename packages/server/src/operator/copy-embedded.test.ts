import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { testStorePlace } from '../../test/open-test-store.ts'
import { createControlPlane } from '../app.ts'
import { loadConfig } from '../config.ts'
import { copyEmbedded } from './copy-embedded.ts'

const world = { now: Date.now, log: pino({ level: 'silent' }) }
const login = { username: 'admin', password: 'a-password-of-mine' }

async function canSignIn(url: string): Promise<boolean> {
  const headers = { 'content-type': 'application/json' }
  const answer = await fetch(`${url}/v1/users/authorize`, {
    ...{ method: 'POST', headers },
    body: JSON.stringify(login),
  })
  return answer.status === 200
}

test('a home goes on in PostgreSQL, and its file is put aside; not while a server runs', async () => {
  const home = await mkdtemp(join(tmpdir(), 'fairlead-copy-'))
  try {
    const settings = { FAIRLEAD_HTTP_PORT: '0', FAIRLEAD_ADMIN_PASSWORD: login.password }
    const embedded = loadConfig({ FAIRLEAD_HOME: home, ...settings })
    const place = await testStorePlace(':memory:')
    if (typeof place === 'string') throw new Error('this test needs PostgreSQL')
    const config = { ...embedded, store: place.address }
    await expect(copyEmbedded(embedded)).rejects.toThrow('FAIRLEAD_STORE')
    const before = await createControlPlane(embedded, world)
    expect(await canSignIn(before.url)).toBe(true)
    await expect(copyEmbedded(config)).rejects.toThrow('another Fairlead server runs')
    await before[Symbol.asyncDispose]()
    expect(await copyEmbedded(config)).toMatchObject({ aside: join(home, 'store.db.copied') })
    expect(existsSync(join(home, 'store.db'))).toBe(false)
    await using after = await createControlPlane(config, world)
    expect(await canSignIn(after.url)).toBe(true)
    await expect(createControlPlane(config, world)).rejects.toThrow('another Fairlead server runs')
  } finally {
    await rm(home, { recursive: true })
  }
})
