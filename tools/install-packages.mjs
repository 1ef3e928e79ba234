import { createHash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { runQuietly } from './run-program.mjs'
import { explainWriteError, SetUpError } from './set-up-error.mjs'
import { showStep } from './show-step.mjs'
import { withLock } from './with-lock.mjs'

/**
 * Installs the packages in the lock file of `folder`, unless exactly these are installed and the program
 * `proof` is there. Exact versions, no install scripts. The output of npm is shown only when npm fails. Two
 * processes at the same time install once.
 */
export async function installPackages({ root, folder, what, proof, env }) {
  const stamp = join(folder, 'node_modules/.fairlead-lock')
  const lockFile = readFileSync(join(folder, 'package-lock.json'), 'utf8')
  const wanted = createHash('sha256').update(lockFile).digest('hex')
  const isThere = () => existsSync(join(folder, 'node_modules/.bin', proof))
  if (read(stamp) === wanted && isThere()) return

  const lock = {
    folder: join(root, '.fairlead/locks'),
    name: 'install',
    onWait: () => console.error('fairlead: waiting for another process that installs packages …'),
  }
  await withLock(lock, async () => {
    if (read(stamp) === wanted && isThere()) return
    if (!isThere() || !matches(JSON.parse(lockFile), read(join(folder, 'node_modules/.package-lock.json'))))
      await showStep(`installing ${what}`, () => npmCi(folder, what, env))
    try {
      writeFileSync(stamp, wanted)
    } catch (error) {
      explainWriteError(error, folder)
    }
  })
}

async function npmCi(folder, what, env) {
  // The caller may have told npm to print nothing, or to leave out development packages: this npm does not
  // inherit that.
  const flags = ['--loglevel=error', '--include=dev', '--include=optional', '--no-audit', '--no-fund']
  const { code, stdout, stderr } = await runQuietly('npm', ['ci', '--prefix', folder, ...flags], {
    env,
    cwd: folder,
  })
  if (code === 0) return
  const words = `${stdout}${stderr}`.trim()
  if (/\b(EACCES|EROFS)\b/.test(words)) explainWriteError({ code: 'EACCES' }, folder)
  throw new SetUpError(`installing ${what} failed (npm ci, exit code ${code}). npm says:\n${words}`)
}

/** After a manual run of npm: what npm itself recorded as installed is what the lock file names. */
function matches(lock, recorded) {
  if (recorded === undefined) return false
  const installed = JSON.parse(recorded).packages
  return Object.entries(lock.packages)
    .filter(([path, { link }]) => path.includes('node_modules/') && !link)
    .every(([path, { integrity, optional }]) =>
      installed[path] ? installed[path].integrity === integrity : optional === true,
    )
}

function read(file) {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined
    throw error
  }
}
