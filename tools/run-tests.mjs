import { join } from 'node:path'
import { runChecks } from './run-checks.mjs'
import { runProgram } from './run-program.mjs'

/**
 * Runs the checks, unless files or projects are named, then vitest with `args`: all tiers but the proof,
 * unless a project or a file of it is named. Whatever happens, the last line on stdout is the count, and the
 * exit code is 0 only when nothing failed. The count comes from plain-reporter.ts over a channel, so that a
 * vitest that died without a count is a failure.
 */
export async function runTests({ root, node, env, args, prepare }) {
  const isPart = args.length > 0 && !args.includes('--changed')
  const badCheck = isPart ? 0 : await runChecks({ root, node, env })
  if (badCheck !== 0) {
    console.log('0 passed, 1 failed')
    return badCheck
  }
  await prepare()

  let count
  const vitest = [
    '--conditions=@fairlead/source',
    join(root, 'node_modules/vitest/vitest.mjs'),
    'run',
    ...tiersOf(args),
    ...args,
  ]
  const code = await runProgram(node, vitest, {
    env,
    cwd: root,
    onMessage: (message) => {
      count = message.fairleadCount ?? count
    },
  })
  if (count === undefined) count = { passed: 0, failed: 0, skipped: 0 }
  if (code !== 0 && count.failed === 0) count = { ...count, failed: 1 }
  console.log(sayCount(count))
  return count.failed > 0 && code === 0 ? 1 : code
}

function tiersOf(args) {
  if (args.some((arg) => arg.startsWith('--project') || arg.includes('e2e/proof'))) return []
  return ['unit', 'component*', 'acceptance'].map((name) => `--project=${name}`)
}

function sayCount({ passed, failed, skipped }) {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`
}
