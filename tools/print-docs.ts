import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import {
  errors,
  type HoldReason,
  holdReasons,
  operations,
  rollbackObstacles,
  toOpenApi,
  type WayOut,
  wayOutOfRest,
  waysOut,
} from '@fairlead/api'
import { printActions } from './print-actions.ts'
import { printCli } from './print-cli.ts'
import { printCliExamples } from './print-cli-examples.ts'
import { printCommands } from './print-commands.ts'
import { printCompatibility } from './print-compatibility.ts'
import { printInvariants } from './print-invariants.ts'
import { printMan } from './print-man.ts'
import { printMetrics } from './print-metrics.ts'
import { printOperationTable } from './print-operation-table.ts'
import { printSpeed } from './print-speed.ts'
import { wrapPage } from './wrap-page.ts'

const root = new URL('..', import.meta.url)

/** The pages that are printed from the code, by path. `npm run docs` writes them; check/pages.ts compares. */
export async function printDocs(): Promise<Readonly<Record<string, string>>> {
  const configuration = await printConfiguration()
  const pages = {
    errors: printErrors(),
    actions: printActions(),
    'hold-reasons': printHoldReasons(),
    cli: await printCli(),
    'cli-examples': printCliExamples(),
    commands: printCommands(),
    compatibility: printCompatibility(),
    metrics: printMetrics(),
    speed: printSpeed(),
    ...(configuration !== undefined && { configuration }),
  }
  return {
    'docs/reference/openapi.json': printOpenApi(),
    'packages/cli/man/fairlead.1': await printMan(),
    'docs/invariants.md': printInvariants(),
    'packages/api/src/operation-table.ts': printOperationTable(),
    ...Object.fromEntries(
      Object.entries(pages).map(([name, text]) => [`docs/reference/${name}.md`, wrapPage(text)]),
    ),
  }
}

function printOpenApi(): string {
  const { version } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8')) as { version: string }
  return `${JSON.stringify(toOpenApi(operations, version), null, 2)}\n`
}

function printErrors(): string {
  const rows = Object.entries(errors)
    .toSorted(([, a], [, b]) => a.status - b.status)
    .map(([code, { status, meaning }]) => `| \`${code}\` | ${status} | ${meaning} |`)
  return `${[
    '<!-- Printed by `npm run docs` from packages/api/src/contract/errors.ts. Do not edit. -->',
    '# Errors',
    '',
    'Every error answer is `{"error_code": …, "message": …}`. The code is stable and names the kind of error; the message describes the fault of this request and its repair.',
    '',
    'A refusal with status 400, 406 or 409 also has `obstacles`: a list of all obstacles, each `{"error_code": …, "message": …, "field": …}`. `field` is the field of the request, null if it is none or several. The `error_code` of the answer is that of the first obstacle, and its `message` has all. At most 20 faults of form are named.',
    '',
    'Every answer to a request that could be parsed has the header `X-Request-Id`: the value of the request, if it is 1 to 64 letters, digits and `_.:-`; otherwise a new one. With `FAIRLEAD_LOG_LEVEL=info`, the line `an action has begun` has this id and that of the action. All lines of the server about the action, and its orders to the agent, have the id of the action as `request`.',
    '',
    '[openapi.json](openapi.json) lists the errors of each operation.',
    '',
    '| error_code | status | meaning |',
    '|---|---|---|',
    ...rows,
  ].join('\n')}\n`
}

function printHoldReasons(): string {
  return `${[
    '<!-- Printed by `npm run docs` from packages/api/src/contract/hold-reasons.ts and rollback-obstacles.ts. Do not edit. -->',
    '# Why an action waits',
    '',
    'An action that waits has the reason in `hold_reason`, a code for programs, and in `waiting_for`, a sentence for people. The sentence may change with any version; a code keeps its meaning, and later versions may have more. `hold_reason` is null while an action does not wait. `needs_person` is true if it cannot continue without a person. See [upgrades](../operate/upgrades.md).',
    '',
    'The last column is for an action that is stuck (`phase`): the next step of a person, with the order that follows. The command line and the console show it, too. Where it is empty, for every other reason:',
    `${describeWayOut(wayOutOfRest)}.`,
    '',
    '| hold_reason | what is waited for | when it is stuck |',
    '|---|---|---|',
    ...Object.entries(holdReasons).map(
      ([code, meaning]) => `| \`${code}\` | ${meaning} | ${describeWayOut(waysOut[code as HoldReason])} |`,
    ),
    '',
    '## Why an upgrade cannot be rolled back',
    '',
    'While `rollback_eligible` is false, `rollback_obstacle` has the reason as a code, and `rollback_reason` as a sentence. With several groups, the code is that of the first group that cannot go back; the sentence names all.',
    '',
    '| rollback_obstacle | obstacle |',
    '|---|---|',
    ...Object.entries(rollbackObstacles).map(([code, meaning]) => `| \`${code}\` | ${meaning} |`),
  ].join('\n')}\n`
}

function describeWayOut(way: WayOut | undefined): string {
  if (way === undefined) return ''
  return way.order === null ? way.why : `${way.why} (\`${way.order}\`)`
}

/** Of the server's variables, once the server has them. */
async function printConfiguration(): Promise<string | undefined> {
  const file = new URL('packages/server/src/config/config.ts', root)
  if (!existsSync(file)) return undefined
  const module = (await import(file.href)) as { printConfigurationDocs?: () => string }
  return module.printConfigurationDocs?.()
}

if (import.meta.main) {
  const stale = Object.entries(await printDocs()).filter(([path, text]) => {
    const file = new URL(path, root)
    return !existsSync(file) || readFileSync(file, 'utf8') !== text
  })
  if (process.argv.includes('--check')) {
    for (const [path] of stale) console.error(`${path} is not what the code prints: run npm run docs`)
    process.exitCode = stale.length > 0 ? 1 : 0
  } else {
    for (const [path, text] of stale) writeFileSync(new URL(path, root), text)
    console.log(stale.length > 0 ? `written: ${stale.map(([path]) => path).join(', ')}` : 'nothing to write')
  }
}
