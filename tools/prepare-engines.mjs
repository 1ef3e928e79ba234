import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { runQuietly } from './run-program.mjs'
import { SetUpError } from './set-up-error.mjs'
import { showStep } from './show-step.mjs'
import { withLock } from './with-lock.mjs'

/**
 * Fetches those of `engines` ("redis 7.0") that are not in the folder of builds yet, through `fairlead
 * engines fetch`.
 *
 * Throws SetUpError with the command's own line when a build cannot be fetched; with `anyBuildWillDo` only
 * when there is no build at all, on PATH or in the folder. A failure to fetch an `optional` build is a line
 * on stderr.
 */
export async function prepareEngines({ root, node, env, engines, optional = [], anyBuildWillDo = false }) {
  const isMissing = (build) => !isThere(env.FAIRLEAD_ENGINES, build)
  const missing = () => engines.filter(isMissing)
  if (![...engines, ...optional].some(isMissing)) return

  const fairlead = (...args) =>
    runQuietly(node, ['--conditions=@fairlead/source', join(root, 'packages/cli/src/main.ts'), ...args], {
      env,
    })
  const lock = {
    folder: join(root, '.fairlead/locks'),
    name: 'engines',
    onWait: () => console.error('fairlead: waiting for another process that fetches engine builds …'),
  }
  const trouble = await withLock(lock, async () => {
    const needed = await fetchAll(fairlead, missing())
    if (needed !== undefined) return needed
    for (const build of optional.filter(isMissing)) {
      const why = await fetchAll(fairlead, [build], ['--unstable'])
      if (why !== undefined)
        console.error(`fairlead: ${why} Going on without ${build}: its tests are skipped.`)
    }
    return undefined
  })
  if (trouble === undefined) return
  if (!anyBuildWillDo || !(await hasAnyBuild(fairlead))) throw new SetUpError(trouble)
  console.error(`fairlead: ${trouble} Going on with the builds that are here.`)
}

/** Why a build could not be fetched, in one line; undefined when all builds are there. */
async function fetchAll(fairlead, builds, options = []) {
  for (const build of builds) {
    const [flavour, version] = build.split(' ')
    const fetching = () => fairlead('engines', 'fetch', flavour, version, ...options)
    const { code, stdout, stderr } = await showStep(`fetching ${build}`, fetching)
    if (code !== 0)
      return (stderr.trim() || stdout.trim() || `fetching ${build} failed`).replace(/^fairlead: /, '')
  }
  return undefined
}

/**
 * Is there a build of this flavour and version prefix? "redis 7.0" is answered by
 * redis-7.0.15/bin/redis-server.
 */
function isThere(folder, build) {
  const [flavour, version] = build.split(' ')
  if (!existsSync(folder)) return false
  return readdirSync(folder).some(
    (name) =>
      (name === `${flavour}-${version}` || name.startsWith(`${flavour}-${version}.`)) &&
      existsSync(join(folder, name, 'bin', `${flavour}-server`)),
  )
}

async function hasAnyBuild(fairlead) {
  const { code, stdout } = await fairlead('engines', 'list', '--json')
  return code === 0 && JSON.parse(stdout).length > 0
}
