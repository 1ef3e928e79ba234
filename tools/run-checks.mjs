import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { runQuietly } from './run-program.mjs'

// Biome colours each letter even into a file.
const colours = process.stderr.isTTY ? 'force' : 'off'

/** What tsc has found is kept: the next run looks only at what has changed. */
const types = (project, name) => {
  const kept = `node_modules/.cache/tsc-${name}.json`
  return [
    'node_modules/.bin/tsc',
    '-p',
    project,
    '--checkers',
    '1',
    '--incremental',
    '--tsBuildInfoFile',
    kept,
  ]
}

/** The longest first, so that the last one does not run alone. */
const checks = [
  { name: 'lint with types', command: ['node_modules/.bin/oxlint', '--type-aware'] },
  { name: 'types', command: types('.', 'all') },
  { name: 'format and lint', command: ['node_modules/.bin/biome', 'ci', `--colors=${colours}`, '.'] },
  { name: 'map', command: ['tools/check/main.ts'] },
  { name: 'types of the console', command: types('packages/web', 'web') },
]

/**
 * The two programs in Go (oxlint's, and tsc) do much of their work once for each thread, and spend a third of
 * it on collecting garbage.
 */
const ofGo = { GOMAXPROCS: '1', GOGC: '400' }

/**
 * Format, lint, types and the map, as many at a time as there are processors. Prints what those have found
 * that fail, and names them; resolves with the exit code of the first of these, else 0.
 */
export async function runChecks({ root, node, env }) {
  const waiting = [...checks]
  const failed = []
  const work = async () => {
    for (let check = waiting.shift(); check !== undefined; check = waiting.shift()) {
      const { name, command } = check
      const args = ['--conditions=@fairlead/source', ...command.with(0, join(root, command[0]))]
      const { code, stdout, stderr } = await runQuietly(node, args, { env: { ...ofGo, ...env }, cwd: root })
      if (code === 0) continue
      failed.push(code)
      console.error(`${stdout}${stderr}fairlead: the check of ${name} failed: ${command.join(' ')}`)
    }
  }
  await Promise.all(Array.from({ length: availableParallelism() }, work))
  return failed[0] ?? 0
}
