import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { runQuietly } from './run-program.mjs'
import { SetUpError } from './set-up-error.mjs'
import { showStep } from './show-step.mjs'
import { withLock } from './with-lock.mjs'

/** Builds the web console, unless exactly this one is built already. */
export async function prepareConsole({ root, node, env }) {
  const stamp = join(root, 'packages/web/dist/console.stamp')
  const isThere = (wanted) =>
    existsSync(join(root, 'packages/web/dist/console/index.html')) &&
    existsSync(stamp) &&
    readFileSync(stamp, 'utf8') === wanted
  const wanted = digestOf(root)
  if (isThere(wanted)) return
  const lock = {
    folder: join(root, '.fairlead/locks'),
    name: 'console',
    onWait: () => console.error('fairlead: waiting for another process that builds the console …'),
  }
  await withLock(lock, async () => {
    if (isThere(wanted)) return
    const program = ['--conditions=@fairlead/source', join(root, 'packages/web/build/build-console.ts')]
    const { code, stderr } = await showStep('building the console', () => runQuietly(node, program, { env }))
    if (code !== 0) throw new SetUpError(`building the console failed:\n${stderr.trim()}`)
    writeFileSync(stamp, wanted)
  })
}

/** Of everything that the build reads. */
function digestOf(root) {
  const hash = createHash('sha256').update(readFileSync(join(root, 'package-lock.json')))
  for (const folder of ['packages/web/src', 'packages/web/build', 'packages/api/src'])
    for (const name of readdirSync(join(root, folder), { recursive: true }).toSorted()) {
      const file = join(root, folder, name)
      if (statSync(file).isFile()) hash.update(`${folder}/${name}\0`).update(readFileSync(file))
    }
  return hash.digest('hex')
}
