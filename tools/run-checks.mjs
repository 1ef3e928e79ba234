import { join } from 'node:path'
import { runProgram } from './run-program.mjs'

// Biome colours each letter even into a file.
const colours = process.stderr.isTTY ? [] : ['--colors=off']

const checks = [
  { name: 'format and lint', bin: 'biome', args: ['ci', ...colours, '.'] },
  { name: 'types', bin: 'tsc', args: ['-p', '.'] },
  { name: 'types of the console', bin: 'tsc', args: ['-p', 'packages/web'] },
  { name: 'promises', bin: 'oxlint', args: ['--type-aware'] },
]

/** Format, lint, types, promises. Stops at the first that fails and names it; resolves with its exit code, else 0. */
export async function runChecks({ root, node, env }) {
  for (const check of checks) {
    const command = [join(root, 'node_modules/.bin', check.bin), ...check.args]
    const code = await runProgram(node, command, { env, cwd: root })
    if (code === 0) continue
    console.error(`fairlead: the check of ${check.name} failed: ${check.bin} ${check.args.join(' ')}`)
    return code
  }
  return 0
}
