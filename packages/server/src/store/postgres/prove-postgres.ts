import { stat } from 'node:fs/promises'
import pg from 'pg'
import type { PostgresAddress } from '../../core/state/read-postgres-address.ts'
import { StoreAway } from './postgres-trouble.ts'

/**
 * Returns whether any local user could listen there while PostgreSQL is away, so that it must prove its
 * identity. TLS, or a Unix socket in a closed folder, already does.
 */
export async function isOpenToAll({ host, tls }: PostgresAddress): Promise<boolean> {
  if (tls !== null) return false
  if (!host.startsWith('/')) return true
  const found = await stat(host).catch(() => null)
  return found !== null && (found.mode & 0o002) !== 0
}

/**
 * A client that never sends the password, and requires PostgreSQL to prove by SCRAM that it knows it. Sets
 * `isProven` once connected; leaves a server that asks for the password itself.
 */
export class ProvingClient extends pg.Client {
  #isProven = false

  constructor(config?: pg.ClientConfig) {
    super(config)
    // Registered before pg's listeners, so that their writes have no effect.
    const leave = () => void this.connection.stream.destroy(unproven('it asks for the password itself'))
    this.connection.on('authenticationCleartextPassword', leave)
    this.connection.on('authenticationMD5Password', leave)
    // If the proof is wrong, pg ends the connection before it is used.
    this.connection.on('authenticationSASLFinal', () => {
      this.#isProven = true
    })
  }

  get isProven(): boolean {
    return this.#isProven
  }
}

/** Returns a connection of `pool`. Throws StoreAway if a ProvingClient is not proven. */
export async function connectProven(pool: pg.Pool): Promise<pg.PoolClient> {
  const client = await pool.connect()
  if (!(client instanceof ProvingClient) || client.isProven) return client
  client.release(true)
  throw unproven('it accepts the login without a password')
}

function unproven(what: string): StoreAway {
  return new StoreAway(
    `the process that listens at the address of FAIRLEAD_STORE may belong to any local user: ${what}. Let PostgreSQL use scram-sha-256 (pg_hba.conf) and give the password, or use TLS, or a Unix socket in a folder that is closed to others`,
    undefined,
  )
}
