import { randomBytes } from 'node:crypto'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SERVER_USERS } from '@fairlead/engine'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import type { PostgresAddress } from '../../../packages/server/src/core/state/read-postgres-address.ts'
import { openStore } from '../../../packages/server/src/store/open-store.ts'
import { StoreAway } from '../../../packages/server/src/store/postgres/postgres-trouble.ts'
import { createSecretBox } from '../../../packages/server/src/store/secret-box.ts'
import { makeAuthority, makeEndpointCertificate } from '../../../packages/server/src/tls/make-certificate.ts'
import { startPostgres, type TestPostgres } from '../../../packages/server/test/postgres.ts'
import { until } from '../../../proof/until.ts'

const password = 'of-this-cluster'
const folder = mkdtempSync(join(tmpdir(), 'fairlead-access-'))
const file = (name: string) => join(folder, name)
const opened = new AsyncDisposableStack()
const box = createSecretBox(randomBytes(32))
const now = Date.now()
let postgres: TestPostgres
let port: number
let database: string
let authority: Awaited<ReturnType<typeof makeAuthority>>
beforeAll(async () => {
  postgres = opened.use(await startPostgres({ tcp: true }))
  const address = await postgres.makeDatabase()
  port = address.port
  database = address.database
  // Over the network a password is asked for, and TLS is not: that is for us to ask for.
  await postgres.write('pg_hba.conf', 'local all all trust\nhost all all all scram-sha-256\n')
  await postgres.run(
    `create user fairlead password '${password}'; alter database ${database} owner to fairlead`,
  )
  authority = await makeAuthority(now)
  writeFileSync(file('ca.pem'), authority.cert)
  writeFileSync(file('password'), `${password}\n`, { mode: 0o600 })
  await show(['localhost', '127.0.0.1'])
})
afterAll(async () => {
  await opened.disposeAsync()
  rmSync(folder, { recursive: true })
})

/** From now on PostgreSQL shows a certificate for these names. */
async function show(hosts: readonly string[], { by = authority, madeMs = now } = {}): Promise<void> {
  const { cert, key } = await makeEndpointCertificate(by, hosts, madeMs)
  await postgres.write('server.crt', cert)
  await postgres.write('server.key', key)
  await postgres.run('alter system set ssl = on')
  await reload()
}

/**
 * New connections are made as its files say once the file of its settings has been read: then the time of
 * that is another.
 */
async function reload(): Promise<void> {
  const read = async () => (await postgres.run('select pg_conf_load_time()::text as at'))[0]?.['at']
  const before = await read()
  await postgres.run('select pg_reload_conf()')
  await until('the settings are read', async () => (await read()) !== before)
}

async function open(change: Partial<PostgresAddress> = {}, passwordFile = file('password')): Promise<string> {
  const tls = { rootCertificate: file('ca.pem') }
  const address = { host: 'localhost', port, database, user: 'fairlead', tls, ...change }
  try {
    await using store = await openStore({ address, passwordFile }, () => box)
    await store.db.selectFrom('users').select('uid').execute()
    return 'open'
  } catch (cause) {
    const { message } = cause as Error
    return cause instanceof StoreAway ? `away: ${message}` : message
  }
}

test('a certificate is checked for its name, or its address, its authority and its time', async () => {
  expect([await open(), await open({ host: '127.0.0.1' })]).toEqual(['open', 'open'])
  await show(['localhost'])
  expect(await open({ host: '127.0.0.1' })).toMatch(/^away: .*127\.0\.0\.1 is not in/)
  await show(['db.example'])
  expect(await open()).toMatch(/^away: .*localhost\. .*DNS:db\.example/)
  await show(['localhost'], { by: await makeAuthority(now) })
  expect(await open()).toMatch(/^away: .*(certificate|signature)/)
  await show(['localhost'], { madeMs: now - 400 * 86_400_000 })
  expect(await open()).toMatch(/^away: .*certificate has expired/)
  await postgres.run('alter system set ssl = off')
  await reload()
  expect(await open()).toMatch(/^away: .*does not support SSL/)
  await show(['localhost'])
  expect(await open()).toBe('open')
})

test('a missing or invalid authority is reported at once', async () => {
  writeFileSync(file('none.pem'), 'no certificate')
  const withCa = (name: string) => open({ tls: { rootCertificate: file(name) } })
  expect(await withCa('none.pem')).toMatch(/^FAIRLEAD_STORE: sslrootcert .*none\.pem /)
  expect(await withCa('missing.pem')).toMatch(/^FAIRLEAD_STORE: sslrootcert .*missing\.pem .*ENOENT/)
})

test('a password file that is missing, empty, open to others or wrong is reported, with the remedy', async () => {
  const withPassword = (name: string) => open({}, file(name))
  writeFileSync(file('empty'), '\n', { mode: 0o600 })
  writeFileSync(file('wrong'), 'another', { mode: 0o600 })
  writeFileSync(file('open'), password)
  const variable = /^FAIRLEAD_STORE_PASSWORD_FILE: /
  expect(await withPassword('missing')).toMatch(/^FAIRLEAD_STORE_PASSWORD_FILE: .*ENOENT/)
  const asServer = vi.spyOn(process, 'geteuid').mockReturnValue(SERVER_USERS.first)
  expect(await withPassword('missing')).toMatch(/server\/own of FAIRLEAD_HOME/)
  asServer.mockRestore()
  expect(await withPassword('empty')).toMatch(variable)
  for (const mode of [0o644, 0o620]) {
    chmodSync(file('open'), mode)
    expect(await withPassword('open')).toMatch(/run chmod 600/)
  }
  // A secret that a group may read, as container platforms give it.
  chmodSync(file('open'), 0o440)
  expect(await withPassword('open')).toBe('open')
  expect(await withPassword('wrong')).toMatch(/^FAIRLEAD_STORE: .*password/)
})

test('if the password is changed while a server runs, PostgreSQL counts as away until the file has it', async () => {
  const tls = { rootCertificate: file('ca.pem') }
  const address = { host: 'localhost', port, database, user: 'fairlead', tls }
  writeFileSync(file('changing'), password, { mode: 0o600 })
  await using store = await openStore({ address, passwordFile: file('changing') }, () => box)
  const cutAll = () =>
    postgres.run(`select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'fairlead'`)
  await postgres.run(`alter user fairlead password 'another'`)
  await cutAll()
  await expect(store.transaction(async () => 'done')).rejects.toBeInstanceOf(StoreAway)
  const waiting = store.transaction(async () => 'done')
  writeFileSync(file('changing'), 'another')
  expect(await waiting).toBe('done')
  await postgres.run(`alter user fairlead password '${password}'`)
})
