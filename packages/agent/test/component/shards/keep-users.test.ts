import { createHash } from 'node:crypto'
import type { ShardSpec, ShardUsers } from '@fairlead/api'
import { MADE_BY_FAIRLEAD, usersMark } from '@fairlead/engine'
import { expect, test } from 'vitest'
import { connectAs, makeHome, makeSpec, type TestHome, until } from '../../agent-home.ts'
import { engines } from '../../engines.ts'

const id = 'a-1'
const digest = createHash('sha256').update('secret').digest('hex')

/** The users eve and others, who have the password `secret` and these rights. */
function usersWith(rights: Readonly<Record<string, string>>, defaultUser = true): ShardUsers {
  const users = Object.entries(rights).map(([name, rule]) => ({
    name,
    words: ['on', `#${digest}`, `#${MADE_BY_FAIRLEAD}`, ...rule.split(' ')],
  }))
  return { defaultUser, users }
}

async function untilIn(home: TestHome, users: ShardUsers): Promise<void> {
  await until(async () => {
    const now = await home.shard(id)
    return now?.state === 'running' && now.users === usersMark(users)
  })
}

async function untilAnother(home: TestHome, pid: number | null): Promise<void> {
  await until(async () => {
    const now = await home.shard(id)
    return now?.state === 'running' && now.pid !== null && now.pid !== pid
  })
}

/** Returns the names in the engine, sorted, and those of users that are off. */
async function namesIn(spec: ShardSpec): Promise<readonly string[]> {
  using admin = await connectAs('fairlead', spec)
  const lines = ((await admin.call('ACL', 'LIST')) as readonly string[]).map((line) => line.split(' '))
  return lines.map(([, name, ...words]) => `${name}${words.includes('off') ? ' off' : ''}`).toSorted()
}

test.each(engines)(
  '$flavour $version: a running shard gets its users, loses those of before, and a death takes none',
  async (engine) => {
    await using home = await makeHome()
    await using _ = await home.start()
    const eve = usersWith({ eve: '~a +get', bob: '~b +get' })
    const spec = { ...(await makeSpec({}, engine)), users: eve }
    await home.client.putShard({ params: { id }, body: spec })
    await untilIn(home, eve)
    expect(await namesIn(spec)).toEqual(['bob', 'default', 'eve', 'fairlead'])
    using admin = await connectAs('fairlead', spec)
    await admin.call('ACL', 'SETUSER', 'of-a-client', 'on', 'nopass', '+get')

    const { pid } = await home.becomes(id, { state: 'running' })
    const others = usersWith({ eve: '~a +get', zoe: '~b +set' }, false)
    await home.client.putUsers({ params: { id }, body: others })
    await untilIn(home, others)
    expect(await namesIn(spec)).toEqual(['default off', 'eve', 'fairlead', 'of-a-client', 'zoe'])
    expect(await home.shard(id)).toMatchObject({ pid })

    process.kill(pid ?? 0, 'SIGKILL')
    await untilAnother(home, pid)
    expect(await namesIn(spec)).toEqual(['default off', 'eve', 'fairlead', 'zoe'])
    await untilIn(home, others)
  },
)

test.each(engines)(
  '$flavour $version: a user that the engine does not understand ends nothing, and has no rights of before',
  async (engine) => {
    await using home = await makeHome()
    await using _ = await home.start()
    const strange = usersWith({ eve: '~a +nosuchcommand', zoe: '~b +get' })
    const spec = { ...(await makeSpec({}, engine)), users: usersWith({ eve: '~a +get' }) }
    await home.client.putShard({ params: { id }, body: spec })
    await untilIn(home, spec.users)
    await home.client.putUsers({ params: { id }, body: strange })
    await until(async () => (await namesIn(spec)).includes('zoe'))
    expect(await namesIn(spec)).toEqual(['default', 'fairlead', 'zoe'])
    expect((await home.shard(id))?.users).not.toBe(usersMark(strange))

    // Nor the start of its next process.
    const { pid } = await home.becomes(id, { state: 'running' })
    process.kill(pid ?? 0, 'SIGKILL')
    await untilAnother(home, pid)
    await until(async () => (await namesIn(spec)).includes('zoe'))
    const known = usersWith({ eve: '~a +set' })
    await home.client.putUsers({ params: { id }, body: known })
    await untilIn(home, known)
    expect(await namesIn(spec)).toEqual(['default', 'eve', 'fairlead'])
  },
)
