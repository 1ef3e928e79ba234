import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { runQuietly } from './run-program.mjs'
import { SetUpError } from './set-up-error.mjs'
import { showStep } from './show-step.mjs'

/**
 * The files that proof/modules/prepare-modules.ts makes. A file that is older than its source is built again
 * by the test that uses it.
 */
const modules = ['tally-1.0.0', 'tally-1.1.0', 'tally-2.0.0', 'tally-3.0.0', 'redisearch']
const compiler = ['gcc', 'libc6-dev']

/**
 * Builds and fetches those modules of the tests that are missing. Before that, it installs a compiler with
 * the machine's apt if there is none and the user is root. Each failure is a line on stderr: the tests that
 * need our own module fail with what to install, those of RediSearch are skipped.
 */
export async function prepareModules({ root, node, env }) {
  const folder = join(root, '.fairlead/test-modules')
  if (modules.every((name) => existsSync(join(folder, `${name}.so`)))) return

  if (!(await canCompile(env)) && process.getuid?.() === 0)
    await showStep(`installing ${compiler.join(' and ')}, to build the module of the tests`, () =>
      install(env),
    )
  const prepare = ['--conditions=@fairlead/source', join(root, 'proof/modules/prepare-modules.ts')]
  const { code, stderr } = await showStep('building and fetching the modules of the tests', () =>
    runQuietly(node, prepare, { env }),
  )
  if (code !== 0) console.error(stderr.trim().replace(/^/gm, 'fairlead: '))
}

/** gcc without libc6-dev compiles nothing that includes a header. */
async function canCompile(env) {
  const check = ['-fsyntax-only', '-include', 'stdlib.h', '-x', 'c', '/dev/null']
  return await succeeds('gcc', check, env)
}

/**
 * Tries with the present package lists, then with new ones. If both fail, the build reports what to install.
 */
async function install(env) {
  const quiet = { ...env, DEBIAN_FRONTEND: 'noninteractive' }
  const packages = ['install', '-q', '-y', '--no-install-recommends', ...compiler]
  if (await succeeds('apt-get', packages, quiet)) return
  if (await succeeds('apt-get', ['update', '-q'], quiet)) await succeeds('apt-get', packages, quiet)
}

async function succeeds(program, args, env) {
  try {
    return (await runQuietly(program, args, { env })).code === 0
  } catch (error) {
    // There is no such program.
    if (error instanceof SetUpError) return false
    throw error
  }
}
