import { EngineUnreachable } from '@fairlead/engine'
import { expect, test } from 'vitest'
import { build } from '../../../proof/engine-pairs.ts'
import { freePort } from '../../../proof/free-port.ts'
import { tallyVersions, testModule } from '../../../proof/modules/build-modules.ts'
import { buildsHere } from '../../../proof/modules/builds-here.ts'
import {
  logOfRefusal,
  startModuleEngine,
  type TestEngine,
} from '../../../proof/modules/start-module-engine.ts'
import { tallyPackage } from '../../../proof/modules/tally-package.ts'
import { until } from '../../../proof/until.ts'

const [one, two, three] = [await testModule('1.0.0'), await testModule('2.0.0'), await testModule('3.0.0')]

test.each(buildsHere)('every version loads into %s and is what its package says', async (name) => {
  for (const version of tallyVersions) {
    await using engine = await startModuleEngine(name, { module: await testModule(version) })
    const described = await tallyPackage(version)
    expect(await versionListed(engine, 'tally')).toBe(described.version)
    for (const command of described.commands) {
      const { command_name, command_arity, flags, first_key, last_key, step } = command
      const [info] = (await engine.call('COMMAND', 'INFO', command_name)) as [unknown[]]
      expect(info.slice(1, 6), command_name).toEqual([
        command_arity,
        [...flags.filter((flag) => flag !== 'fast'), 'module', ...flags.filter((flag) => flag === 'fast')],
        first_key,
        last_key,
        step,
      ])
    }
    expect(await engine.call('COMMAND', 'LIST', 'FILTERBY', 'PATTERN', 'tally.*')).toHaveLength(
      described.commands.length,
    )
  }
})

test.each(buildsHere)('its self-test holds on %s, twice, and leaves nothing', async (name) => {
  await using engine = await startModuleEngine(name, { module: two })
  const { self_test } = await tallyPackage('2.0.0')
  for (const { command, reply } of [...self_test, ...self_test]) {
    const [word = '', ...args] = command
    expect(await engine.call(word, ...args)).toEqual(reply)
  }
  expect(await engine.call('DBSIZE')).toBe(0)
})

test('STEP is what is added when no number is given', async () => {
  await using engine = await startModuleEngine(build('valkey', '8.1'), {
    module: one,
    moduleArgs: ['STEP', '7'],
  })
  expect(await engine.call('TALLY.ADD', 'k')).toBe(7)
  expect(await engine.call('TALLY.ADD', 'k', -2)).toBe(5)
})

test.each([
  ['1.0.0', ['NONSENSE', '1'], "the argument 'NONSENSE' is unknown; it was given '1'"],
  ['1.0.0', ['HANG', 'yes'], "the argument 'HANG' is unknown; it was given 'yes'"],
  ['2.0.0', ['STEP', '0'], "the argument 'STEP' wants a whole number from 1 on; it was given '0'"],
  ['2.0.0', ['STEP'], "the argument 'STEP' wants a whole number from 1 on; it was given ''"],
  ['3.0.0', ['HANG', 'maybe'], "the argument 'HANG' wants yes or no; it was given 'maybe'"],
] as const)('%s with %j does not start, and the log names the argument', async (version, args, line) => {
  for (const name of [build('redis', '7.0'), build('valkey', '8.1')]) {
    const log = await logOfRefusal(name, { module: await testModule(version), moduleArgs: args })
    expect(log).toContain(`<tally> ${line}`)
    expect(log).toContain('server aborting')
  }
})

test('what it cannot do is refused: another type, an odd number, too much, no name', async () => {
  await using engine = await startModuleEngine(build('valkey', '8.1'), { module: two })
  await engine.call('SET', 'text', 'x')
  for (const words of [['ADD', 'text', 1] as const, ['GET', 'text'] as const, ['NAME', 'text', 'a'] as const])
    await expect(engine.call(`TALLY.${words[0]}`, ...words.slice(1))).rejects.toThrow('WRONGTYPE')
  await expect(engine.call('TALLY.ADD', 'k', 'many')).rejects.toThrow('not an integer')
  await engine.call('TALLY.ADD', 'k', '9223372036854775807')
  await expect(engine.call('TALLY.ADD', 'k', 1)).rejects.toThrow('overflow')
  await expect(engine.call('TALLY.NAME', 'k', '')).rejects.toThrow('at least one character')
  expect(await engine.call('TALLY.GET', 'none')).toBe(null)
  expect(await engine.call('TALLY.NAMEOF', 'k')).toBe(null)
})

test.each(buildsHere)('data outlive a snapshot and both forms of append-only file on %s', async (name) => {
  const settings = ['enable-debug-command yes']
  await using engine = await startModuleEngine(name, { module: one })
  await engine.call('TALLY.ADD', 'k', 5)
  // The newer version reads what the older one saved.
  await engine.restart('SAVE', { module: two, settings })
  expect(await engine.call('TALLY.ADD', 'k', 1)).toBe(6)
  await engine.call('TALLY.NAME', 'k', 'bob')
  await engine.call('TALLY.ADD', 'nameless', -1)
  const digest = await digestOf(engine)
  await engine.restart('SAVE', { module: two, settings })
  await expectNamed(engine, digest)

  for (const preamble of ['yes', 'no']) {
    await engine.call('CONFIG', 'SET', 'aof-use-rdb-preamble', preamble)
    await engine.call('CONFIG', 'SET', 'appendonly', 'yes')
    await untilRewritten(engine)
    await engine.call('TALLY.ADD', 'k', 1)
    await engine.restart('NOSAVE', { module: two, settings: [...settings, 'appendonly yes'] })
    expect(await engine.call('TALLY.ADD', 'k', -1)).toBe(6)
    await expectNamed(engine, digest)
    await engine.call('CONFIG', 'SET', 'appendonly', 'no')
  }
})

test('a snapshot of 2.0 is closed to 1.0, names or not, and to an engine without the module', async () => {
  for (const name of [build('redis', '7.0'), build('valkey', '8.1')]) {
    await using engine = await startModuleEngine(name, { module: two })
    await engine.call('TALLY.ADD', 'nameless', 5)
    await expect(engine.restart('SAVE', { module: one })).rejects.toThrow('the engine ended')
    expect(await engine.log()).toContain('cannot read encoding 1')
    expect(engine.hasEnded).toBe(true)
  }
  await using engine = await startModuleEngine(build('valkey', '8.1'), { module: one })
  await engine.call('TALLY.ADD', 'k', 5)
  await expect(engine.restart('SAVE', {})).rejects.toThrow('the engine ended')
  expect(await engine.log()).toContain("module type 'tallytype'")
})

test.each(buildsHere)('3.0.0 loads into %s, adds, and hangs without end in TALLY.GET', async (name) => {
  await using engine = await startModuleEngine(name, { module: three, commandWithinMs: 300 })
  expect(await engine.call('TALLY.ADD', 'k', 1)).toBe(1)
  await expect(engine.call('TALLY.GET', 'k')).rejects.toThrow(EngineUnreachable)
  await expect(engine.call('PING')).rejects.toThrow(EngineUnreachable)
  expect(engine.hasEnded).toBe(false)
})

test('3.0.0 answers when it was told HANG no', async () => {
  await using engine = await startModuleEngine(build('valkey', '8.1'), {
    module: three,
    moduleArgs: ['HANG', 'no'],
  })
  await engine.call('TALLY.ADD', 'k', 1)
  expect(await engine.call('TALLY.GET', 'k')).toBe(1)
})

test('its commands are routed by their key in cluster mode', async () => {
  const settings = [
    'cluster-enabled yes',
    'cluster-require-full-coverage no',
    `cluster-port ${await freePort()}`,
  ]
  await using engine = await startModuleEngine(build('valkey', '8.1'), { module: two, settings })
  // Of foo's slot, 12182, and not of bar's, 5061.
  await engine.call('CLUSTER', 'ADDSLOTSRANGE', 8_192, 16_383)
  await until(
    'the slots are served',
    async () => (await engine.call('TALLY.ADD', 'foo', 1).catch(() => 0)) === 1,
  )
  for (const command of ['ADD', 'GET', 'NAMEOF'])
    await expect(engine.call(`TALLY.${command}`, 'bar')).rejects.toThrow('CLUSTERDOWN')
})

async function versionListed(engine: TestEngine, module: string): Promise<unknown> {
  const modules = (await engine.call('MODULE', 'LIST')) as unknown[][]
  const found = modules.find((fields) => fields[fields.indexOf('name') + 1] === module)
  return found?.[found.indexOf('ver') + 1]
}

async function expectNamed(engine: TestEngine, digest: unknown): Promise<void> {
  expect(await engine.call('TALLY.GET', 'k')).toBe(6)
  expect(await engine.call('TALLY.NAMEOF', 'k')).toBe('bob')
  expect(await engine.call('TALLY.GET', 'nameless')).toBe(-1)
  expect(await engine.call('TALLY.NAMEOF', 'nameless')).toBe(null)
  expect(await digestOf(engine)).toEqual(digest)
}

function digestOf(engine: TestEngine): Promise<unknown> {
  return engine.call('DEBUG', 'DIGEST-VALUE', 'k', 'nameless')
}

async function untilRewritten(engine: TestEngine): Promise<void> {
  const fields = ['aof_rewrite_in_progress', 'aof_rewrite_scheduled']
  const isDone = async () => {
    const values = await Promise.all(fields.map((field) => engine.info('persistence', field)))
    return values.every((value) => value === '0') && (await engine.info('persistence', 'aof_enabled')) === '1'
  }
  await until('the append-only file is written', isDone)
}
