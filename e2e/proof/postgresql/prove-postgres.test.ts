import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openStore } from '../../../packages/server/src/store/open-store.ts'
import { createSecretBox } from '../../../packages/server/src/store/secret-box.ts'
import { startPostgres, type TestPostgres } from '../../../packages/server/test/postgres.ts'

let folder: string
let passwordFile: string
let postgres: TestPostgres
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'proof-'))
  passwordFile = join(folder, 'password')
  await writeFile(passwordFile, 'the-password', { mode: 0o600 })
  postgres = await startPostgres()
})
afterAll(async () => {
  await postgres?.[Symbol.asyncDispose]()
  await rm(folder, { recursive: true })
})

const key = randomBytes(32)
type Address = Awaited<ReturnType<TestPostgres['makeDatabase']>>
const open = (address: Address, file: string | null = passwordFile) =>
  openStore({ address, passwordFile: file }, () => createSecretBox(key))

/** A message of PostgreSQL's: its type, and what it says. */
const message = (type: string, ...body: readonly (number | Buffer)[]) => {
  const bytes = Buffer.concat(body.map((each) => (typeof each === 'number' ? int32(each) : each)))
  return Buffer.concat([Buffer.from(type), int32(bytes.length + 4), bytes])
}
const int32 = (value: number) => {
  const bytes = Buffer.alloc(4)
  bytes.writeInt32BE(value)
  return bytes
}
const ready = message('Z', Buffer.from('I'))

/** Listens where PostgreSQL would, says `first` to each client, and keeps what it is told. */
async function takePort(first: Buffer) {
  const told: Buffer[] = []
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined)
    socket.on('data', (chunk: Buffer) => told.push(chunk))
    socket.once('data', () => socket.write(first))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const port = (server.address() as { readonly port: number }).port
  return {
    address: { host: '127.0.0.1', port, database: 'fairlead', user: 'fairlead', tls: null },
    told: () => Buffer.concat(told).toString('latin1'),
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

describe('another user of the machine who has taken the port of PostgreSQL gets no password, if it', () => {
  const takers: Readonly<Record<string, Buffer>> = {
    'asks for the password': message('R', 3),
    'asks for its MD5': message('R', 5, Buffer.from('salt')),
    'lets all in': Buffer.concat([message('R', 0), ready]),
    'begins with the end of a proof': Buffer.concat([
      message('R', 12, Buffer.from('v=AAAA')),
      message('R', 0),
      ready,
    ]),
  }
  for (const [name, first] of Object.entries(takers))
    test(name, async () => {
      await using taker = await takePort(first)
      await expect(open(taker.address)).rejects.toMatchObject({ code: 'STORE_AWAY' })
      expect(taker.told()).not.toMatch(/the-password|md5[0-9a-f]{32}|select|create table/i)
    })
})

test('PostgreSQL proves itself where any local user could listen; in a folder that is closed it need not', async () => {
  const place = await postgres.makeDatabase()
  await postgres.run(`create user keeper password 'the-password'`)
  await postgres.run(`alter database ${place.database} owner to keeper`)
  const access = join(place.host, 'data', 'pg_hba.conf')
  await writeFile(access, 'local all keeper scram-sha-256\nlocal all all trust\n')
  await postgres.run('select pg_reload_conf()')
  await chmod(place.host, 0o777)
  {
    await using store = await open({ ...place, user: 'keeper' })
    expect(await store.db.selectFrom('users').selectAll().execute()).toEqual([])
  }
  await expect(open(place)).rejects.toThrow('without a password')
  await chmod(place.host, 0o700)
  await using _ = await open({ ...(await postgres.makeDatabase()) }, null)
})
