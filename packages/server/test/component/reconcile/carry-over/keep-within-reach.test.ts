import { readFile } from 'node:fs/promises'
import { compareVersions, connectEngine, createEffect, EngineError } from '@fairlead/engine'
import pino from 'pino'
import { describe, expect, test } from 'vitest'
import { areAsGiven } from '../../../../src/core/carry-over/within-reach.ts'
import { limitUsers } from '../../../../src/reconcile/carry-over/keep-within-reach.ts'
import { readUserLines } from '../../../../src/reconcile/carry-over/read-settings.ts'
import { builds, startTestEngine, type TestEngine, USER_PASSWORD } from '../../../engine.ts'

const deps = { effect: createEffect(() => undefined), log: pino({ level: 'silent' }) }

describe.for(builds)('an engine of an older Fairlead: $flavour $version', (build) => {
  // invariant: Users of a running engine lose commands that reach beyond their database.
  test('its users lose what reaches beyond their database, and their connections go on', async () => {
    await using engine = await startTestEngine(build)
    const { admin } = engine
    await admin.call('ACL', 'SETUSER', 'default', '-@all', '+@all', '-@admin')
    // Users like people create, with the rules of `default`; one has a command granted by name.
    await admin.call('ACL', 'SETUSER', 'app', 'on', '>of-app', '~app:*', '+@all', '-@admin')
    await admin.call('ACL', 'SETUSER', 'mover', 'on', '>of-mover', '~*', '-@all', '+@connection', '+migrate')
    using user = await connectAs(engine, 'default', USER_PASSWORD)
    using app = await connectAs(engine, 'app', 'of-app')
    // Its rules do not name administration, and @connection contains some of it.
    await admin.call('ACL', 'SETUSER', 'plain', 'on', '>of-plain', '~*', '-@all', '+@read', '+@connection')
    using plain = await connectAs(engine, 'plain', 'of-plain')
    expect(await plain.call('CLIENT', 'PAUSE', '1')).toBe('OK')
    using mover = await connectAs(engine, 'mover', 'of-mover')
    expect(await user.call('MIGRATE', '127.0.0.1', 1, 'none', 0, 10)).toBe('NOKEY')

    expect(await limitUsers(admin, build, deps)).toEqual(['app', 'default', 'mover', 'plain'])

    for (const [command, ...args] of beyond)
      for (const each of [user, app])
        await expect(each.call(command, ...args), command).rejects.toThrow(/NOPERM|command not allowed/)
    for (const [command, ...args] of ofConnections)
      for (const each of [user, app, plain])
        await expect(each.call(command, ...args), args.join()).rejects.toThrow(refusedOrUnknown)
    expect(await plain.call('CLIENT', 'ID')).toBeGreaterThan(0)
    expect(await user.call('SCRIPT', 'LOAD', 'return 1')).toMatch(/^[0-9a-f]{40}$/)
    await user.call('SET', 'key', 'value')
    expect(await app.call('SET', 'app:key', 'value')).toBe('OK')
    await expect(app.call('GET', 'key')).rejects.toThrow(EngineError)
    expect(await mover.call('MIGRATE', '127.0.0.1', 1, 'none', 0, 10)).toBe('NOKEY')
    expect(await readFile(engine.aclfile, 'utf8')).toContain('-migrate')

    const after = await readUserLines(admin)
    expect(await limitUsers(admin, build, deps)).toEqual([])
    expect(await readUserLines(admin)).toEqual(after)
  })
})

/** Engines before redis 7.2 print the same rules in other words, and are asked for their commands. */
const literal = builds.filter(
  ({ flavour, version }) => flavour !== 'redis' || compareVersions(version, '7.2') >= 0,
)

test.for(literal)(
  'the users with which an agent starts $flavour $version need no further look, until one gets more',
  async (build) => {
    await using engine = await startTestEngine(build)
    const { admin } = engine
    const areGiven = async () => areAsGiven(await readUserLines(admin), build, false)
    expect(await areGiven()).toBe(true)
    expect(await limitUsers(admin, build, deps)).toEqual([])
    await admin.call('ACL', 'SETUSER', 'default', 'nopass', 'resetkeys', '~app:*')
    expect(await areGiven()).toBe(true)
    await admin.call('ACL', 'SETUSER', 'default', '+migrate')
    expect(await areGiven()).toBe(false)
    await admin.call('ACL', 'SETUSER', 'default', '-migrate')
    await admin.call('ACL', 'SETUSER', 'app', 'on', '>of-app', '~app:*', '+get')
    expect(await areGiven()).toBe(false)
  },
)

const beyond = [
  ['MIGRATE', '127.0.0.1', '1', 'app:key', '0', '10'],
  ['RESTORE-ASKING', 'app:key', '0', 'x'],
  ['SCRIPT', 'DEBUG', 'NO'],
] as const

const ofConnections = [
  ['CLIENT', 'PAUSE', '1'],
  ['CLIENT', 'UNPAUSE'],
  ['CLIENT', 'KILL', 'TYPE', 'normal'],
  ['CLIENT', 'NO-EVICT', 'off'],
  ['CLIENT', 'UNBLOCK', '1', 'ERROR'],
] as const

/** Redis before 6.2 has no CLIENT UNPAUSE, and before 7.0 none has NO-EVICT. */
const refusedOrUnknown = /NOPERM|command not allowed|Unknown subcommand/

function connectAs({ admin }: TestEngine, username: string, password: string) {
  return connectEngine({
    address: admin.address,
    login: { username, password },
    connectTimeoutMs: 20_000,
    commandTimeoutMs: 20_000,
  })
}
