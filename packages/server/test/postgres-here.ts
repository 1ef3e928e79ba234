import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

/** The folder of PostgreSQL's programs, and the environment that they need. */
export interface PostgresPrograms {
  readonly folder: string
  /** The folder of the unpacked package. Null: PostgreSQL is installed on this machine. */
  readonly tree: string | null
  readonly environment: Readonly<Record<string, string>>
}

/** Where the set-up of `npm test` unpacks PostgreSQL on a machine without one. */
export const unpackedPostgres = join(import.meta.dirname, '../../../.fairlead/test-postgresql')

/** The newest installed PostgreSQL, or else the one that the set-up has unpacked; null: there is none. */
export function postgresHere(installed = '/usr'): PostgresPrograms | null {
  return findIn(installed, null) ?? findIn(join(unpackedPostgres, 'usr'), unpackedPostgres)
}

/** PostgreSQL finds its files relative to its programs, so it can be moved as a whole. */
export function findIn(usr: string, tree: string | null): PostgresPrograms | null {
  const debian = join(usr, 'lib/postgresql')
  const [newest] = namesIn(debian)
    .filter((name) => existsSync(join(debian, name, 'bin/initdb')))
    .toSorted((a, b) => Number(b) - Number(a))
  if (newest === undefined) return null
  const libraries = tree === null ? [] : [join(tree, 'lib'), join(tree, 'usr/lib')].flatMap(librariesIn)
  const environment = tree === null ? {} : { LD_LIBRARY_PATH: libraries.join(':') }
  return { folder: join(debian, newest, 'bin'), tree, environment }
}

function librariesIn(folder: string): readonly string[] {
  return namesIn(folder)
    .filter((name) => name.includes('-linux-'))
    .map((name) => join(folder, name))
}

function namesIn(folder: string): readonly string[] {
  return existsSync(folder) ? readdirSync(folder) : []
}
