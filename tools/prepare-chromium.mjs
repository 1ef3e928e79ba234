import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { runQuietly } from './run-program.mjs'
import { showStep } from './show-step.mjs'

/**
 * Unpacks a Chromium for the tests of the console into the repository, as any user. If that fails, a line on
 * stderr says so, and its tests are skipped.
 */
export async function prepareChromium({ root, node, env }) {
  if (['chromium', 'fonts'].every((name) => existsSync(join(root, `.fairlead/test-${name}`)))) return
  const prepare = ['--conditions=@fairlead/source', join(root, 'proof/browser/prepare-chromium.ts')]
  const { code, stderr } = await showStep('fetching Chromium for the tests', () =>
    runQuietly(node, prepare, { env }),
  )
  if (code !== 0) console.error(stderr.trim().replace(/^/gm, 'fairlead: '))
}
