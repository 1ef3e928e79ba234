import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { NotOurs } from '@fairlead/engine'
import pino from 'pino'
import { expect, test } from 'vitest'
import { openEngineWall } from '../../../src/engine/engine-wall.ts'
import { connectAs, makeSpec, until } from '../../agent-home.ts'
import { dial, makeProxyHome, proxyProgram } from '../../proxy-home.ts'

const probe = await mkdtemp(join(tmpdir(), 'wall-'))
const { missing } = await openEngineWall(probe, true, pino({ level: 'silent' }))
await rm(probe, { recursive: true })
/** In several threads, each of which has to know. */
const program = [...proxyProgram, '--workers', '2']
const TOLD = /^[+]OK|WRONGPASS/

// invariant: An engine with its own user gets no secret at the port of another engine.
test.runIf(missing === null && process.getuid?.() === 0)(
  'an engine that takes the port of another one that has died gets no password, as long as an agent confirms the user of each engine',
  async () => {
    await using home = await makeProxyHome()
    await using agent = await home.start({ proxyProgram: program })
    const [dead, other] = [await makeSpec({ onCrash: 'wait' }), await makeSpec()]
    await home.client.putShard({ params: { id: 'a-1' }, body: dead })
    await home.client.putShard({ params: { id: 'b-1' }, body: other })
    const { pid } = await home.becomes('a-1', { state: 'running' })
    await home.becomes('b-1', { state: 'running' })
    await home.proxyBecomes({ state: 'running' })
    const port = await home.putEndpoint(dead)
    const login = `AUTH default ${dead.userPassword}\r\n`
    const isSignedIn = async () => (await answerTo(port, login)) === '+OK\r\n'
    await until(isSignedIn)

    using admin = await connectAs('fairlead', other)
    process.kill(pid ?? 0, 'SIGKILL')
    await home.becomes('a-1', { state: 'exited' })
    // As a module in it would.
    await admin.call('CONFIG', 'SET', 'port', String(dead.port))
    // The agent and the server.
    await expect(connectAs('fairlead', dead)).rejects.toMatchObject({ cause: expect.any(NotOurs) })
    expect(await answerTo(port, login)).not.toMatch(TOLD)
    expect(String(await admin.call('ACL', 'LOG'))).toBe('')

    // Without a table, any engine of ours is accepted, as before: to refuse one wrongly is worse.
    await agent[Symbol.asyncDispose]()
    await until(async () => TOLD.test(await answerTo(port, login)))
    // The server has this answer each time: it knows the listener, and refuses it once the table is there
    // again.
    await Promise.all([...Array(20).keys()].map(() => expect(connectAs('fairlead', dead)).rejects.toThrow()))
    await using _next = await home.start({ proxyProgram: program })
    await until(() => isNotOurs(connectAs('fairlead', dead)))

    // The shard itself is accepted again with its next process.
    await admin.call('CONFIG', 'SET', 'port', String(other.port))
    await home.client.putShard({ params: { id: 'a-1' }, body: { ...dead, revision: 'next' } })
    await home.becomes('a-1', { state: 'running' })
    using back = await connectAs('fairlead', dead)
    expect(await back.call('PING')).toBe('PONG')
    await until(isSignedIn)
  },
)

async function isNotOurs(connecting: Promise<unknown>): Promise<boolean> {
  const cause = await connecting.catch((refused: Error) => refused.cause)
  return cause instanceof NotOurs
}

/** The first message, or '' where none comes for a while. */
async function answerTo(port: number, request: string): Promise<string> {
  await using client = await dial(port)
  client.send(request)
  await until(() => client.text() !== '', { withinMs: 1_000 }).catch(() => undefined)
  return client.text()
}
