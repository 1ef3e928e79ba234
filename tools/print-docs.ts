import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import {
  type ErrorCode,
  errors,
  errorsOf,
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
import { printMan } from './print-man.ts'
import { printMetrics } from './print-metrics.ts'
import { printOperationTable } from './print-operation-table.ts'

const root = new URL('..', import.meta.url)

/** The pages that are printed from the code, by path. `npm run docs` writes them; check/pages.ts compares. */
export async function printDocs(): Promise<Readonly<Record<string, string>>> {
  const configuration = await printConfiguration()
  return {
    'docs/reference/openapi.json': printOpenApi(),
    'docs/reference/errors.md': printErrors(),
    'docs/reference/actions.md': printActions(),
    'docs/reference/hold-reasons.md': printHoldReasons(),
    'docs/reference/cli.md': await printCli(),
    'docs/reference/cli-examples.md': printCliExamples(),
    'packages/cli/man/fairlead.1': await printMan(),
    'docs/reference/commands.md': printCommands(),
    'docs/reference/compatibility.md': printCompatibility(),
    'docs/reference/metrics.md': printMetrics(),
    'packages/api/src/operation-table.ts': printOperationTable(),
    ...(configuration !== undefined && { 'docs/reference/configuration.md': configuration }),
  }
}

function printOpenApi(): string {
  const { version } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8')) as { version: string }
  return `${JSON.stringify(toOpenApi(operations, version), null, 2)}\n`
}

function printErrors(): string {
  const rows = Object.entries(errors)
    .toSorted(([, a], [, b]) => a.status - b.status)
    .map(([code, { status, meaning }]) => `| \`${code}\` | ${status} | ${meaning} | ${whereFrom(code)} |`)
  return `${[
    '<!-- Printed by `npm run docs` from packages/api/src/contract/errors.ts. Do not edit. -->',
    '# Errors',
    '',
    'Every error answer is `{"error_code": …, "message": …}`. The code is stable and names the kind of error; the message',
    'says what is wrong in this request, and how to mend it.',
    '',
    'A refusal with status 400, 406 or 409 has `obstacles` besides: a list of everything that is in the way, at least one, each as',
    '`{"error_code": …, "message": …, "field": …}`. `field` is the field of the request that it is about, null where it is about none, or not about one',
    'alone. The `error_code` of the answer is that of the first, and its `message` has them all. Of a request with more than 20 faults of form the first 20 are named.',
    '',
    'Every answer has the header `X-Request-Id`: the one that the request has, if it is 1 to 64 letters, digits and `_.:-`, otherwise a',
    'new one. With `FAIRLEAD_LOG_LEVEL=info`, the line `an action has begun` has this id and that of the action. All lines of the server about the',
    'action, and the orders that the agent gets for it, have the action\u2019s id as `request`.',
    '',
    '| error_code | status | meaning | operations |',
    '|---|---|---|---|',
    ...rows,
  ].join('\n')}\n`
}

function printHoldReasons(): string {
  return `${[
    '<!-- Printed by `npm run docs` from packages/api/src/contract/hold-reasons.ts and rollback-obstacles.ts. Do not edit. -->',
    '# Why an action waits',
    '',
    'An action that waits says why in `hold_reason`, a code for programs, and in `waiting_for`, a sentence for people. The sentence may change',
    'with any version; a code keeps its meaning, and later versions may have more of them. Both are in [upgrades](../operate/upgrades.md). `hold_reason` is',
    'null while an action does not wait. `needs_person` says whether it goes on by itself.',
    '',
    'The last column is what a person does next about an action that is stuck (`phase`), with the order that follows; the command line and the console say it then. Where it is empty:',
    `${sayWayOut(wayOutOfRest)}.`,
    '',
    '| hold_reason | what is waited for | when it is stuck |',
    '|---|---|---|',
    ...Object.entries(holdReasons).map(
      ([code, meaning]) => `| \`${code}\` | ${meaning} | ${sayWayOut(waysOut[code as HoldReason])} |`,
    ),
    '',
    '## Why an upgrade cannot be rolled back',
    '',
    'While `rollback_eligible` is false, `rollback_obstacle` says why as a code, and `rollback_reason` as a sentence. Of several groups, the code is',
    'that of the first that cannot go back; the sentence names all.',
    '',
    '| rollback_obstacle | what is in the way |',
    '|---|---|',
    ...Object.entries(rollbackObstacles).map(([code, meaning]) => `| \`${code}\` | ${meaning} |`),
  ].join('\n')}\n`
}

function sayWayOut(way: WayOut | undefined): string {
  if (way === undefined) return ''
  return way.order === null ? way.why : `${way.why} (\`${way.order}\`)`
}

/** The operations that can answer with this code. */
function whereFrom(code: string): string {
  const all = Object.entries(operations)
  const able = all.filter(([, operation]) => errorsOf(operation).includes(code as ErrorCode))
  if (able.length === 0) return 'none: any other path'
  return able.length > all.length / 2
    ? `${able.length} of ${all.length}`
    : able.map(([name]) => name).join(', ')
}

/** Of the server's variables, once the server has them. */
async function printConfiguration(): Promise<string | undefined> {
  const file = new URL('packages/server/src/config.ts', root)
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
