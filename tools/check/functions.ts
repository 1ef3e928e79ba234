import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { promisify } from 'node:util'
import { rule } from './rule.ts'
import { read, root } from './tree.ts'

/** A longer function has its reason below. 80 lines are the end (.oxlintrc.json). */
const LINES = 60

/**
 * A factory is what a class is elsewhere: what it opens or makes, and the methods that share it. Each method
 * counts by itself. Such functions have these names.
 */
const factory = /^(create|open|make|start|serve|supervise|keep|hold|spawn|watch)[A-Z]|(Store|Routes)$/

/** Everything else has its reason here. */
const excused: Readonly<Record<string, readonly string[]>> = {
  'one entry for each operation, order, step or kind of input, and nothing between them': [
    'packages/server/test/hostile-inputs.ts hostileInputs',
  ],
  'the inner loop of the endpoint: its state stays in local variables, as it runs for each request': [
    'packages/proxy/src/forwarding/forward-requests.ts forwardEach',
  ],
  'a factory by another name': [
    'packages/server/src/app/assemble-reconciling.ts assembleReconciling',
    'packages/server/test/simulation/handover-stage.ts stageOf',
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
