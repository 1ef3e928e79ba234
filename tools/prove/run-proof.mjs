import { join } from 'node:path'
import { runProgram } from '../run-program.mjs'

/**
 * The proof tier, by tools/prove/main.ts, after the set-up that `npm test` does. `--list` and `--help` need
 * none.
 */
export async function runProof({ root, node, env, args, prepare }) {
  if (!args.some((arg) => arg === '--list' || arg === '--help')) await prepare()
  const main = join(root, 'tools/prove/main.ts')
  return await runProgram(node, ['--conditions=@fairlead/source', main, ...args], { env, cwd: root })
}
