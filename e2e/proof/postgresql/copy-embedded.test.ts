import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { createControlPlane } from '../../../packages/server/src/app/app.ts'
import { loadConfig } from '../../../packages/server/src/config/config.ts'
import { copyEmbedded } from '../../../packages/server/src/operator/copy-embedded.ts'
import { testStorePlace } from '../../../packages/server/test/open-test-store.ts'
import { startPostgres } from '../../../packages/server/test/postgres.ts'
import { startRelay } from '../../../packages/server/test/postgres-relay.ts'

const world = { now: Date.now, log: pino({ level: 'silent' }) }
const login = { username: 'admin', password: 'a-password-of-mine' }

test('a copy whose COMMIT got no answer leaves the file in its place, and the next run finishes it', async () => {
  const home = await mkdtemp(join(tmpdir(), 'fairlead-copy-'))
  await using postgres = await startPostgres()
  const { host, database } = await postgres.makeDatabase()
  await using relay = await startRelay(host)
  try {
    const settings = {
      FAIRLEAD_HTTP_PORT: '0',
      FAIRLEAD_HTTPS_PORT: '0',
      FAIRLEAD_ADMIN_PASSWORD: login.password,
    }
    const embedded = loadConfig({ FAIRLEAD_HOME: home, ...settings })
    const before = await createControlPlane(embedded, world)
    await before[Symbol.asyncDispose]()
    const config = {
      ...embedded,
      store: { host: relay.folder, port: 5432, database, user: 'postgres', tls: null },
    }
    let [isCopying, isAway] = [false, false]
    relay.judge(({ sql, from }) => {
      if (isAway && from === 'client') return 'cut'
      isCopying ||= sql.includes('insert into "users"')
      if (isAway || !isCopying || sql !== 'commit') return 'pass'
      isAway = true
      relay.aim(null)
      return 'unanswered'
    })
    await expect(copyEmbedded(config)).rejects.toThrow('PostgreSQL does not answer')
    const files = () => [existsSync(join(home, 'store.db')), existsSync(join(home, 'store.db.copied'))]
    expect(files()).toEqual([true, false])
    expect(await postgres.run('select name from users', database)).toEqual([{ name: 'admin' }])
    relay.judge(() => 'pass')
    relay.aim(postgres.folder)
    await copyEmbedded(config)
    expect(files()).toEqual([false, true])
    await expect(copyEmbedded(config)).rejects.toThrow('it was copied before')
    await using after = await createControlPlane(config, world)
    expect(await canSignIn(after.url)).toBe(true)
  } finally {
    await rm(home, { recursive: true })
  }
})

async function canSignIn(url: string): Promise<boolean> {
  const headers = { 'content-type': 'application/json' }
  const answer = await fetch(`${url}/v1/users/authorize`, {
    method: 'POST',
    headers,
    body: JSON.stringify(login),
  })
  return answer.status === 200
}

test('a home goes on in PostgreSQL, and its file is put aside; not while a server runs', async () => {
  const home = await mkdtemp(join(tmpdir(), 'fairlead-copy-'))
  try {
    const settings = {
      FAIRLEAD_HTTP_PORT: '0',
      FAIRLEAD_HTTPS_PORT: '0',
      FAIRLEAD_ADMIN_PASSWORD: login.password,
    }
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
