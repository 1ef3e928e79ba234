import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { runQuietly } from './run-program.mjs'
import { showStep } from './show-step.mjs'

/**
 * Unpacks Prometheus' promtool for the tests into the repository, as any user, if this machine has none. If
 * that fails, a line on stderr says so, and its tests are skipped.
 */
export async function preparePrometheus({ root, node, env }) {
  if ([join(root, '.fairlead/test-prometheus'), '/usr/bin/promtool'].some((path) => existsSync(path))) return
  const prepare = ['--conditions=@fairlead/source', join(root, 'proof/prepare-promtool.ts')]
  const { code, stderr } = await showStep('fetching promtool for the tests', () =>
    runQuietly(node, prepare, { env }),
  )
  if (code !== 0) console.error(stderr.trim().replace(/^/gm, 'fairlead: '))
}
