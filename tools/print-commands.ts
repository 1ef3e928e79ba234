import {
  type Documented,
  plainDifferences,
  shardedDifferences,
} from '../packages/proxy/test/commands/differences.ts'
import { type Family, families } from '../packages/proxy/test/commands/families.ts'

/** docs/commands.md: what a handover means for each command, from the table by which it is tested. */
export function printCommands(): string {
  return `${[
    '<!-- Printed by `npm run docs` from packages/proxy/test/commands. Do not edit. -->',
    '# Commands and handovers',
    '',
    'What a handover in the middle of a command means to a client of an [endpoint](endpoint.md). `packages/proxy/src/forwarding/command-matrix.test.ts`',
    'tries each of these commands on the newest engine of the machine, as the own user of a database, in RESP2 and RESP3: answered before a handover',
    'and its effect looked at afterwards; with a handover between two halves of the request; sent while clients are held; queued in',
    '`MULTI`; and, if it blocks, waiting all the time. The answer and the effect are those of a single engine that is left alone. An',
    'engine with a command that is not in the table fails the test.',
    '',
    'What differs is under *Differences*, and nothing else is.',
    ...families.flatMap(printFamily),
    '',
    '## Differences',
    '',
    'Of any endpoint:',
    '',
    ...printDifferences(plainDifferences),
    '',
    'Of a sharded database, besides:',
    '',
    ...printDifferences(shardedDifferences.filter((each) => !plainDifferences.includes(each))),
  ].join('\n')}\n`
}

function printFamily({ name, plain, sharded, rows }: Family): readonly string[] {
  const names = [...new Set(rows.map((row) => row.name))].filter((each) => !each.includes('NOSUCH'))
  return [
    '',
    `## ${name}`,
    '',
    plain,
    ...(sharded === '' ? [] : ['', `Sharded: ${sharded}`]),
    '',
    names
      .toSorted()
      .map((each) => `\`${each}\``)
      .join(', '),
  ]
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
