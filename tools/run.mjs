/**
 * Behind every npm script: `node tools/run.mjs <target> [args…]`.
 *
 * Plain JavaScript for Node 20 with npm, because it is what installs the rest: the Node that Fairlead needs,
 * the packages, the engine builds. For a part that is there already, no process is started. Set-up prints on
 * stderr only, so that `npm run -s demo -- --json` is JSON on stdout and nothing else.
 */
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { installPackages } from './install-packages.mjs'
import { prepareChromium } from './prepare-chromium.mjs'
import { prepareConsole } from './prepare-console.mjs'
import { prepareEngines } from './prepare-engines.mjs'
import { prepareModules } from './prepare-modules.mjs'
import { preparePostgres } from './prepare-postgres.mjs'
import { preparePrometheus } from './prepare-prometheus.mjs'
import { prepareRuntime } from './prepare-runtime.mjs'
import { runProof } from './prove/run-proof.mjs'
import { runChecks } from './run-checks.mjs'
import { Interrupted, runProgram } from './run-program.mjs'
import { runTests } from './run-tests.mjs'
import { SetUpError } from './set-up-error.mjs'

const root = fileURLToPath(new URL('..', import.meta.url)).replace(/\/$/, '')

const handoverPair = ['redis 7.0', 'valkey 8.1']
const everyBuild = [...handoverPair, 'valkey 8.0']
/**
 * Optional builds: with them tests cover more. They are in suites that change, so tests run without them,
 * too.
 */
const optional = ['redis 8.0', 'valkey 9']

/** What each target needs, and what it runs. `file` gets the arguments that follow the target. */
const targets = {
  demo: { engines: handoverPair, console: true, file: 'demo/main.ts' },
  start: {
    engines: handoverPair,
    anyBuildWillDo: true,
    console: true,
    file: 'packages/cli/src/main.ts',
    first: ['up'],
  },
  stop: { file: 'packages/cli/src/main.ts', first: ['down', '--all'] },
  test: { engines: everyBuild, optional, run: runTests },
  'test:changed': { engines: everyBuild, optional, run: runChanged },
  prove: { engines: everyBuild, optional, run: runProof },
  check: { run: runChecks },
  docs: { file: 'tools/print-docs.ts' },
  mutants: { engines: handoverPair, anyBuildWillDo: true, file: 'tools/mutants/main.ts' },
  bench: { engines: everyBuild, console: true, file: 'bench/main.ts' },
  fairlead: { console: true, file: 'packages/cli/src/main.ts' },
  'pack-client': { file: 'packages/cli/build/pack-client.ts' },
}

async function main([name = '', ...args]) {
  const target = Object.hasOwn(targets, name) ? targets[name] : undefined
  if (!target)
    throw new SetUpError(
      `say what to run: node tools/run.mjs ${Object.keys(targets).join('|')} [arguments…]; not ${JSON.stringify(name)}`,
    )

  const runtime = await prepareRuntime(root)
  await installPackages({ root, folder: root, what: 'packages', proof: 'vitest', env: runtime.env })
  const place = { root, node: runtime.node, env: withEngines(runtime.env) }
  if (target.run === undefined) {
    if (target.console) await prepareConsole(place)
    if (target.engines) await prepareEngines({ ...place, ...target })
    return runFile(place, target.file, [...(target.first ?? []), ...args])
  }
  const prepare = async () => {
    await prepareConsole(place)
    await prepareEngines({ ...place, ...target })
    await prepareModules(place)
    await preparePostgres(place)
    await preparePrometheus(place)
    await prepareChromium(place)
  }
  return target.run({ ...place, args, prepare })
}

/**
 * Tests that what has changed since the last commit, or since the commit that is named, reaches by imports.
 */
function runChanged({ args, ...place }) {
  return runTests({ ...place, args: ['--changed', ...args] })
}

function runFile({ root, node, env }, file, args) {
  return runProgram(node, ['--conditions=@fairlead/source', resolve(root, file), ...args], { env })
}

/** Every process below sees the same folder of engine builds, wherever it is started. */
function withEngines(env) {
  return { ...env, FAIRLEAD_ENGINES: resolve(env.FAIRLEAD_ENGINES || resolve(root, '.fairlead/engines')) }
}

try {
  process.exitCode = await main(process.argv.slice(2))
} catch (error) {
  // The last line of a test run says the result, also if the run did not get that far.
  if (['test', 'test:changed', 'prove'].includes(process.argv[2])) console.log('0 passed, 1 failed')
  process.exitCode = error.exitCode ?? 1
  if (error instanceof SetUpError) console.error(`fairlead: ${error.message}`)
  else if (!(error instanceof Interrupted)) throw error
}
