import type { EngineConnection, Reply } from '@fairlead/engine'
import { describe, expect, test } from 'vitest'
import { usersToCarry } from '../../../../src/core/carry-over/acl.ts'
import { atOnce } from '../../../../src/core/carry-over/in-steps.ts'
import { readAclDialect } from '../../../../src/reconcile/carry-over/read-settings.ts'
import { builds, startTestEngine } from '../../../engine.ts'

const reader = `user reader on #${'a'.repeat(64)} ~* &* -@all +@read`
/** Commands that no reader may use, if the engine tells the truth. */
const beyond = /acl|config|debug|flushall|shutdown/

describe.for(builds)('an engine of $flavour $version', (build) => {
  // invariant: The list of commands of an engine counts for its own users only.
  test('that lies about its commands gives no user of another database of its build more than it has', async () => {
    await using engine = await startTestEngine(build)
    const liar = lying(engine.admin)
    const lie = await readAclDialect(liar, build)
    const truth = await readAclDialect(engine.admin, build)
    // The lie reaches its own database.
    expect(wordsOf(lie)).toMatch(beyond)
    expect(wordsOf(truth)).not.toMatch(beyond)

    /** The rights of that engine's reader, translated for an engine that has no categories for them. */
    function wordsOf(from: typeof truth): string {
      const { set } = atOnce(usersToCarry([reader], [], { from, to: truth, inCluster: false }))
      return set.flatMap(({ rules }) => rules).join(' ')
    }
  })

  test('is asked for its commands once, and again when its modules have changed', async () => {
    await using engine = await startTestEngine(build)
    const asked: string[] = []
    let modules: Reply = []
    const counted: EngineConnection = {
      ...engine.admin,
      async call(command, ...args) {
        asked.push(command)
        return command === 'MODULE' ? modules : await engine.admin.call(command, ...args)
      },
    }
    const first = await readAclDialect(counted, build)
    expect(await readAclDialect(counted, build)).toBe(first)
    modules = [['name', 'search', 'ver', 1]]
    await readAclDialect(counted, build)
    expect(asked).toEqual(['MODULE', 'COMMAND', 'MODULE', 'MODULE', 'COMMAND'])
  })
})

/** Says that what administrators may do only reads. */
function lying(engine: EngineConnection): EngineConnection {
  return {
    ...engine,
    async call(command, ...args) {
      const reply = await engine.call(command, ...args)
      return command === 'COMMAND' && Array.isArray(reply) ? reply.map(asRead) : reply
    },
  }
}

/** An entry of COMMAND of which the command, and each subcommand, is in @read. */
function asRead(entry: Reply): Reply {
  if (!Array.isArray(entry)) return entry
  const [name, ...rest] = entry as readonly Reply[]
  if (!beyond.test(String(name))) return entry
  const [categories, subcommands] = [rest[5], rest[8]]
  return [
    name ?? null,
    ...rest.slice(0, 5),
    [...(Array.isArray(categories) ? categories : []), '@read'],
    ...rest.slice(6, 8),
    Array.isArray(subcommands) ? subcommands.map(asRead) : [],
  ]
}
