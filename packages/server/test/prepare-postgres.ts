/**
 * `node --conditions=@fairlead/source packages/server/test/prepare-postgres.ts`: unpacks Debian's PostgreSQL
 * 15 for the tests if none is installed. Part of the set-up of `npm test`; a failure is a line on stderr and
 * exit code 1.
 */
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { FetchError, fetchTree } from '@fairlead/agent'
import { postgresHere, unpackedPostgres } from './postgres-here.ts'

/**
 * Unneeded packages: the C library, which this machine has in the same or a newer version, and the compiler
 * of queries, which only helps long queries.
 */
const notWanted = /^(libc6|libgcc|libstdc|libcrypt1|libllvm|libz3|libedit)/

try {
  if (postgresHere() === null)
    await fetchTree({
      suite: 'bookworm',
      packageName: 'postgresql-15',
      isHere: (library) => notWanted.test(library),
      to: unpackedPostgres,
    })
  for (const part of ['doc', 'locale', 'man'])
    await rm(join(unpackedPostgres, 'usr/share', part), { recursive: true, force: true })
} catch (cause) {
  if (!(cause instanceof FetchError)) throw cause
  process.exitCode = 1
  process.stderr.write(`PostgreSQL could not be fetched, its tests are skipped: ${cause.message}\n`)
}
