import { Argument, Command, Option } from 'commander'
import { expect, test } from 'vitest'
import { complete } from './complete.ts'

function tree(): Command {
  const program = new Command('fairlead')
  const databases = program.command('databases').alias('db').description('the databases')
  databases
    .command('upgrade')
    .argument('<database...>')
    .option('--to <build>', 'what to run')
    .addOption(new Option('-o, --output <form>', 'the form').choices(['table', 'json']))
    .addOption(new Option('--secret').hideHelp())
    .option('--dry-run', 'change nothing')
  program.command('completion').addArgument(new Argument('<shell>').choices(['bash', 'zsh']))
  return program
}

const asked: string[] = []
async function words(...typed: readonly string[]): Promise<readonly string[]> {
  const text = await complete(tree(), typed, async (kind, options) => {
    asked.push([kind, ...options.values()].join(' '))
    return kind === 'database' ? ['orders', 'other'] : kind === 'build' ? ['valkey-9.1.2'] : []
  })
  return text.split('\n').map((line) => line.split('\t')[0] ?? '')
}

test.each([
  [[':'], ['databases', 'completion']],
  [[':data'], ['databases']],
  [['db', ':'], ['upgrade']],
  [['completion', ':z'], ['zsh']],
  [
    ['db', 'upgrade', ':o'],
    ['orders', 'other'],
  ],
  [['db', 'upgrade', 'cache', ':or'], ['orders']],
  [['db', 'upgrade', '--to', ':'], ['valkey-9.1.2']],
  [['db', 'upgrade', ':--to=v'], ['--to=valkey-9.1.2']],
  // bash cuts at =.
  [['db', 'upgrade', '--output', '=', ':js'], ['json']],
  [
    ['db', 'upgrade', '-o', ':'],
    ['table', 'json'],
  ],
  [['db', 'upgrade', '--dry-run', ':or'], ['orders']],
  [
    ['db', 'upgrade', ':--'],
    ['--to', '--output', '--dry-run', '--help'],
  ],
  [['nothing', ':'], []],
  [['completion', 'zsh', ':'], []],
])('%j can go on with %j', async (typed, expected) => {
  expect((await words(...typed)).filter((word) => word !== '')).toEqual(expected)
})

test('commands and options are completed without a question to the server', async () => {
  asked.length = 0
  await words('db', 'upgrade', ':--')
  await words('db', ':')
  await words('completion', ':')
  expect(asked).toEqual([])
  await words('db', 'upgrade', '-o', 'json', ':')
  expect(asked).toEqual(['database json'])
})
