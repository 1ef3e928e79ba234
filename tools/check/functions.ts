import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { promisify } from 'node:util'
import { rule } from './rule.ts'
import { read, root } from './tree.ts'

/** A function up to this length is read at a glance. Beyond it there is a reason, below; 60 lines are the end (.oxlintrc.json). */
const LINES = 40

/**
 * A factory is what a class is elsewhere: what it opens or makes, and the methods that share it. Each method counts by itself.
 * Such functions have these names.
 */
const factory = /^(create|open|make|start|serve|supervise|keep|hold|spawn|watch)[A-Z]|(Store|Routes)$/

/** Everything else has its reason here. */
const excused: Readonly<Record<string, readonly string[]>> = {
  'one entry for each operation, order, step or kind of input, and nothing between them': [
    'bench/scale/summarize-scale.ts judgeScale',
    'packages/agent/src/agent.ts answerWith',
    'packages/agent/src/shards/describe-shard.ts describeShard',
    'packages/proxy/src/workers/worker.ts carryOut',
    'packages/server/src/core/dry-run/simulate.ts applyStep',
    'packages/server/src/core/plan/invariants.ts checkStep',
    'packages/server/test/hostile-inputs.ts hostileInputs',
    'packages/server/test/simulation/connections.ts carryOut',
  ],
  'the inner loop of the endpoint: its state stays in local variables, as it runs for each request': [
    'packages/engine/src/framing/scan-replies.ts scanReply',
    'packages/engine/src/framing/scan-requests.ts scanRequest',
    'packages/proxy/src/forwarding/deliver-replies.ts takeSome',
    'packages/proxy/src/forwarding/forward-requests.ts forwardEach',
  ],
  'a factory by another name': [
    'bench/upgrade/loaded-database.ts loadDatabase',
    'packages/engine/src/ask-in-order.ts askInOrder',
    'packages/proxy/test/commands/run-rows.ts begin',
    'packages/proxy/test/run-proxy.ts runProxy',
    'packages/server/src/app/assemble-reconciling.ts assembleReconciling',
    'packages/server/src/fleet/stores/shards-store.ts readShards',
    'packages/server/src/reconcile/steps/record-handover.ts recordHandover',
    'packages/server/test/simulation/group.ts groupOf',
    'packages/server/test/simulation/handover-stage.ts stageOf',
    'packages/server/test/simulation/records-in-memory.ts recordsOf',
  ],
  'a proof from its first step to its last, in the order in which it happens': [
    'e2e/support/fault-round.ts injectInUpgrades',
    'e2e/support/fault-round.ts injectOnce',
    'proof/upgrade-under-load.ts upgradeUnderLoad',
  ],
}

/** How long functions are. */
export const functions = [
  rule(`a function of more than ${LINES} lines is a factory, or has its reason in the check`, async () => {
    const named = Object.values(excused).flat()
    const others = (await findLong()).filter((one) => !factory.test(one.split(' ')[1] ?? ''))
    return [
      ...others.filter((one) => !named.includes(one)),
      ...named.filter((one) => !others.includes(one)).map((one) => `${one}: needs its excuse no more`),
    ]
  }),
]

interface Finding {
  readonly code: string
  readonly message: string
  readonly filename: string
}

/** Functions longer than that outside of tests, as "file name". */
async function findLong(): Promise<readonly string[]> {
  const folder = await mkdtemp(join(tmpdir(), 'fairlead-functions-'))
  try {
    const rules = /("max-lines-per-function": \["error", \{ "max": )\d+/
    const text = read('.oxlintrc.json')
    if (!rules.test(text)) throw new Error('.oxlintrc.json does not say how long a function may be')
    const file = join(folder, 'oxlintrc.json')
    await writeFile(file, text.replace(rules, `$1${LINES}`))
    const program = join(root, 'node_modules/oxlint/bin/oxlint')
    const args = [
      '-c',
      file,
      '-f',
      'json',
      ...['packages', 'ledger', 'tools', 'e2e', 'proof', 'bench', 'demo'],
    ]
    // It ends with 1 where it finds something.
    const { stdout } = await promisify(execFile)(process.execPath, [program, ...args], {
      cwd: root,
      maxBuffer: 1e8,
    }).catch((cause: { stdout: string }) => cause)
    const { diagnostics } = JSON.parse(stdout) as { readonly diagnostics: readonly Finding[] }
    return diagnostics
      .filter(({ code, filename }) => /max-lines-per-function/.test(code) && !filename.endsWith('.test.ts'))
      .map(({ filename, message }) => `${relative(root, join(root, filename))} ${nameIn(message)}`)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

function nameIn(message: string): string {
  return /`([^`]+)`/.exec(message)?.[1] ?? 'a function without a name'
}
