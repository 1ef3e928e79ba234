/**
 * A demonstration: a replicated database on an older engine, under load, upgraded through the API; then every
 * acknowledged write is read back. Two passes: SETs (nothing may be missing) and INCRs (nothing may be done
 * twice). With `--console` the upgrade is left to the person who watches.
 */
import { parseArgs } from 'node:util'
import { messageOf } from '@fairlead/engine'
import { Listr } from 'listr2'
import { startFairlead } from '../proof/start-fairlead.ts'
import { type Proof, upgradeUnderLoad } from '../proof/upgrade-under-load.ts'
import { chooseEngines } from './choose-engines.ts'
import { showConsole } from './show-console.ts'
import { printResult, summarize } from './summarize.ts'
import { tellUpgrade } from './tell-upgrade.ts'

const { values: flags } = parseArgs({
  options: {
    json: { type: 'boolean', default: false },
    console: { type: 'boolean', default: false },
  },
})
const began = performance.now()
const proofs: Proof[] = []

const pass = (kind: 'set' | 'incr', sentence: string) => ({
  title: sentence,
  rendererOptions: { outputBar: Number.POSITIVE_INFINITY, persistentOutput: true },
  task: async (_: unknown, task: { output: string }) => {
    await using fairlead = await startFairlead()
    const { from, to } = chooseEngines()
    await using telling = new AsyncDisposableStack()
    const say = (line: string) => {
      task.output = line
    }
    proofs.push(
      await upgradeUnderLoad(fairlead, {
        from,
        to,
        kind,
        preserveRoles: true,
        warmUp: 40_000,
        say,
        beforehand: async (uid) => void telling.use(tellUpgrade(fairlead, uid, say)),
      }),
    )
  },
})
const tasks = new Listr(
  [
    pass('set', 'A database is upgraded while 50 clients SET new keys'),
    pass('incr', 'A database is upgraded while 50 clients INCR their counters'),
  ],
  flags.json || !process.stdout.isTTY
    ? { renderer: flags.json ? 'silent' : 'simple', fallbackRenderer: 'simple' }
    : { renderer: 'default', rendererOptions: { collapseSubtasks: false } },
)

async function prove(): Promise<boolean> {
  await tasks.run()
  const summary = summarize(proofs, (performance.now() - began) / 1000)
  process.stdout.write(flags.json ? `${JSON.stringify(summary)}\n` : printResult(summary, proofs))
  for (const example of proofs.flatMap(({ examples }) => examples)) process.stderr.write(`demo: ${example}\n`)
  const isNew = proofs.every(({ from, to, action }) => from !== to && action.status === 'completed')
  return summary.lost === 0 && summary.duplicated === 0 && isNew
}

try {
  const isWell = flags.console ? (await showConsole(console.log)) === 0 : await prove()
  process.exitCode = isWell ? 0 : 1
} catch (cause) {
  process.stderr.write(`demo: ${messageOf(cause)}\n`)
  process.exitCode = 1
}
