import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { runQuietly } from './run-program.mjs'
import { showStep } from './show-step.mjs'

/**
 * Unpacks the PostgreSQL of the tests into the repository, as any user, if this machine has none: nothing is
 * installed, and no running PostgreSQL is changed. If that fails, a line on stderr says so, and the tests of
 * PostgreSQL are skipped.
 */
export async function preparePostgres({ root, node, env }) {
  if ([join(root, '.fairlead/test-postgresql'), '/usr/lib/postgresql'].some((folder) => existsSync(folder)))
    return
  const prepare = ['--conditions=@fairlead/source', join(root, 'packages/server/test/prepare-postgres.ts')]
  const { code, stderr } = await showStep('fetching PostgreSQL for the tests', () =>
    runQuietly(node, prepare, { env }),
  )
  if (code !== 0) console.error(stderr.trim().replace(/^/gm, 'fairlead: '))
}
