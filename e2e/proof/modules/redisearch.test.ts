import { EngineUnreachable } from '@fairlead/engine'
import { describe, expect, test } from 'vitest'
import { type BuildName, build, findBuild } from '../../../proof/engine-pairs.ts'
import { buildsHere } from '../../../proof/modules/builds-here.ts'
import { testRedisearch } from '../../../proof/modules/redisearch.ts'
import { redisearchPackage } from '../../../proof/modules/redisearch-package.ts'
import { startModuleEngine, type TestEngine } from '../../../proof/modules/start-module-engine.ts'
import { until } from '../../../proof/until.ts'

const redisearch = await testRedisearch()
const module = redisearch ?? ''

/** The builds on which it works, and those on which it loads and hangs. */
const hanging = [build('valkey', '8.1'), findBuild('valkey', '9')].filter((name) => name !== undefined)
const working = buildsHere.filter((name) => !hanging.includes(name))

/** Skipped if the set-up of npm test could not fetch it, which it has reported. */
describe.skipIf(redisearch === null)('RediSearch', () => {
  test.each(working)('passes its self-test on %s, twice, and leaves nothing', async (name) => {
    await using engine = await startModuleEngine(name, { module, moduleArgs: ['MAXEXPANSIONS', '100'] })
    const { self_test } = await redisearchPackage()
    for (const { command, reply } of [...self_test, ...self_test]) {
      const [word = '', ...args] = command
      expect(await engine.call(word, ...args)).toEqual(reply)
    }
    expect(await engine.call('DBSIZE')).toBe(0)
  })

  test.each(working)('has the commands that its package says on %s', async (name) => {
    await using engine = await startModuleEngine(name, { module })
    const { commands, module_name } = await redisearchPackage()
    const listed = (await engine.call('COMMAND', 'LIST', 'FILTERBY', 'MODULE', module_name)) as string[]
    expect(commands.map(({ command_name }) => command_name).toSorted()).toEqual(listed.toSorted())
    for (const { command_name, command_arity, flags, first_key, last_key, step } of commands) {
      const [info] = (await engine.call('COMMAND', 'INFO', command_name)) as [unknown[]]
      const described = [command_arity, [...flags, 'module'], first_key, last_key, step]
      expect(info.slice(1, 6), command_name).toEqual(described)
    }
  })

  const paths: readonly (readonly [BuildName, BuildName])[] = [
    [build('redis', '7.0'), build('valkey', '8.0')],
    [build('valkey', '8.0'), build('valkey', '8.0')],
  ]
  test.each(paths)(
    'index and documents of %s outlive a restart, and go to %s by replication',
    async (older, newer) => {
      await using primary = await startModuleEngine(older, { module })
      await primary.call('FT.CREATE', 'books', 'SCHEMA', 'title', 'TEXT')
      await add(primary, 'book:1')
      await primary.restart('SAVE', { module, moduleArgs: ['MAXEXPANSIONS', '100'] })
      await expectFound(primary, ['book:1'])

      const settings = [`replicaof 127.0.0.1 ${primary.port}`]
      await using replica = await startModuleEngine(newer, { module, settings })
      await expectFound(replica, ['book:1'])
      await add(primary, 'book:2')
      await expectFound(replica, ['book:1', 'book:2'])
      expect(await replica.info('stats', 'unexpected_error_replies')).toBe('0')
    },
  )

  test.each(hanging)('loads into %s, hangs it at the first use, and says that it crashed', async (name) => {
    await using engine = await startModuleEngine(name, { module, commandWithinMs: 500 })
    const [
      {
        command: [word = '', ...args],
      } = { command: [] },
    ] = (await redisearchPackage()).self_test
    await expect(engine.call(word, ...args)).rejects.toThrow(EngineUnreachable)
    await expect(engine.call('PING')).rejects.toThrow(EngineUnreachable)
    expect(engine.hasEnded).toBe(false)
    expect(await engine.log()).toContain('crashed by signal: 6')
  })
})

async function add(engine: TestEngine, document: string): Promise<void> {
  await engine.call('FT.ADD', 'books', document, '1.0', 'FIELDS', 'title', 'hello')
}

async function expectFound(engine: TestEngine, documents: readonly string[]): Promise<void> {
  await until(`${documents.join(', ')} are found`, async () => {
    // A replica that has no index yet answers with an error.
    const found = await engine.call('FT.SEARCH', 'books', 'hello', 'NOCONTENT').catch(() => [])
    return Array.isArray(found) && found.slice(1).toSorted().join() === documents.join()
  })
}
