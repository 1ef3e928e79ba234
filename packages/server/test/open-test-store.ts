import { randomBytes } from 'node:crypto'
import BetterSqlite from 'better-sqlite3'
import pg from 'pg'
import { inject } from 'vitest'
import type { PostgresAddress } from '../src/core/state/read-postgres-address.ts'
import { openStore, type Store, type StorePlace } from '../src/store/open-store.ts'
import { createSecretBox } from '../src/store/secret-box.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** The PostgreSQL of the test project that runs on it; undefined in the other projects. */
    readonly postgres: PostgresAddress | undefined
  }
}

const key = randomBytes(32)
const places = new Map<string, PostgresAddress>()

/** Whether this project has its stores in PostgreSQL. */
export const isOnPostgres = inject('postgres') !== undefined

/** Opens `file` (`:memory:`: a new store each time), or a database of this project's PostgreSQL. */
export async function openTestStore(file: string): Promise<Store> {
  const place = await testStorePlace(file)
  return typeof place === 'string' ? openStore(place) : openStore(place, () => createSecretBox(key))
}

/** The place of that store. */
export async function testStorePlace(file: string): Promise<StorePlace> {
  const server = inject('postgres')
  if (server === undefined) return file
  const known = places.get(file)
  if (known !== undefined && file !== ':memory:') return { address: known, passwordFile: null }
  const database = `test_${randomBytes(8).toString('hex')}`
  await runOn(server, `create database ${database}`)
  const address = { ...server, database }
  places.set(file, address)
  return { address, passwordFile: null }
}

/** Changes a store without the knowledge of its server. */
export async function tamperWith(place: StorePlace, statements: string): Promise<void> {
  if (typeof place === 'string') new BetterSqlite(place).exec(statements).close()
  else await runOn(place.address, statements)
}

async function runOn({ host, port, database, user }: PostgresAddress, statements: string): Promise<void> {
  const client = new pg.Client({ host, port, database, user })
  await client.connect()
  try {
    await client.query(statements)
  } finally {
    await client.end()
  }
}
