import {
  type Documented,
  plainDifferences,
  shardedDifferences,
} from '../packages/proxy/test/commands/differences.ts'
import { type Family, families } from '../packages/proxy/test/commands/families.ts'

/** docs/reference/commands.md: the effect of a handover on each command, from the table of its test. */
export function printCommands(): string {
  return `${[
    '<!-- Printed by `npm run docs` from packages/proxy/test/commands. Do not edit. -->',
    '# Commands and handovers',
    '',
    'The effect of a handover in the middle of a command, for a client of an [endpoint](../explain/endpoint.md). All differences from a single engine are under *Differences*.',
    '',
    '`packages/proxy/test/component/forwarding/command-matrix.test.ts` tries each command on the newest engine of the machine, as the user of a database, in RESP2 and RESP3: answered before a handover; with a handover between two halves of the request; sent while clients are held; queued in `MULTI`; and, if it blocks, waiting during the handover. Answer and effect must be those of a single engine without a handover. The test fails if an engine has a command that is not in the table.',
    ...families.flatMap(printFamily),
    '',
    '## Differences',
    '',
    'For every endpoint:',
    '',
    ...printDifferences(plainDifferences),
    '',
    'Engines do not replicate everything. After a handover, with or without an endpoint:',
    '',
    ...notReplicated.map((each) => `- ${each}`),
    '',
    'For sharded databases also:',
    '',
    ...printDifferences(shardedDifferences.filter((each) => !plainDifferences.includes(each))),
  ].join('\n')}\n`
}

/** Seen at replicas of redis 7.0 and 8.0 and valkey 8.1 and 9.1. */
const notReplicated = [
  'A consumer of a group that has asked with `XREADGROUP` and got nothing is not in `XINFO CONSUMERS`, until it asks again.',
  '`OBJECT ENCODING` may be different (of a number after `INCRBYFLOAT`: `int` instead of `embstr`). The value is the same.',
  '`XINFO GROUPS` has nil for `entries-read` and `lag` of a group that was not created at the end of its stream, if the former primary was redis 7.0.',
]

function printFamily({ name, plain, sharded, rows }: Family): readonly string[] {
  const names = [...new Set(rows.map((row) => row.name))].filter((each) => !each.includes('NOSUCH'))
  return [
    '',
    `## ${name}`,
    '',
    plain,
    ...(sharded === '' ? [] : ['', `Sharded: ${sharded}`]),
    '',
    printNames(names.toSorted()),
  ]
}

/** Reads and writes have more: these are named by examples. All refused commands are named. */
const MOST_NAMED = 90

function printNames(names: readonly string[]): string {
  const list = (some: readonly string[]) => some.map((each) => `\`${each}\``).join(', ')
  if (names.length <= MOST_NAMED) return list(names)
  const every = Math.ceil(names.length / 8)
  return `${names.length} commands, such as ${list(names.filter((_, at) => at % every === 0))}.`
}

function printDifferences(differences: readonly Documented[]): readonly string[] {
  const named = (command: string) =>
    command.includes('NOSUCH') ? 'unknown ones' : command.includes(' ') ? command : `\`${command}\``
  return [
    '| commands | what differs |',
    '|---|---|',
    ...differences.map(({ commands, means }) => `| ${commands.map(named).join(', ')} | ${means} |`),
  ]
}
