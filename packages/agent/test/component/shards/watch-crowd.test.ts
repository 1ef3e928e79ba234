import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, test } from 'vitest'
import { connectAs, makeHome, makeSpec, until } from '../../agent-home.ts'
import { engines } from '../../engines.ts'

const STRANGER = 65_534
const MOST = 60

/** As a second user: half of its connections say nothing, half say what is refused; one signs in. */
const strangerCode = (port: number, password: string) => `
import { connect } from 'node:net'
process.setgroups([${STRANGER}]); process.setgid(${STRANGER}); process.setuid(${STRANGER})
const open = (words) => { const s = connect(${port}, '127.0.0.1'); s.on('error', () => {}); if (words) s.write(words); return s }
const honest = open('HELLO 3 AUTH default ${password} SETNAME honest\\r\\n')
honest.once('data', () => {
  for (let n = 0; n < ${MOST}; n += 1) open(n % 2 ? 'PING\\r\\n' : '')
  console.log('there')
})
honest.once('close', () => console.log('honest was cut'))
`

// invariant: Connections without a login at the port of a shard do not lock its clients out.
test
  .runIf(process.geteuid?.() === 0)
  .each(engines.map((engine) => [`${engine.flavour} ${engine.version}`, engine] as const))(
  'connections of another user that fill the port of a shard are ended to make room for its clients: %s',
  async (_, engine) => {
    await using home = await makeHome()
    await using _agent = await home.start()
    const spec = await makeSpec({}, engine)
    await home.client.putShard({ params: { id: 'a-1' }, body: spec })
    await home.becomes('a-1', { state: 'running' })
    using admin = await connectAs('fairlead', spec)
    await admin.call('CONFIG', 'SET', 'maxclients', MOST)
    using idle = await connectAs('default', spec)

    const code = strangerCode(spec.port, spec.userPassword)
    const stranger = spawn(process.execPath, ['--input-type=module', '-e', code], {
      cwd: '/',
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    let said = ''
    stranger.stdout.on('data', (text) => {
      said += String(text)
    })
    const ended = once(stranger, 'exit')
    try {
      await until(() => said.includes('there'))
      // One after the other, while the earlier ones stay: there is room for many.
      using stack = new DisposableStack()
      for (let n = 0; n < MOST / 10; n += 1)
        await until(async () => {
          const client = await connectAs('default', spec).catch(() => null)
          if (client === null) return false
          stack.use(client)
          return true
        })
      expect(await idle.call('PING')).toBe('PONG')
      expect(String(await admin.call('CLIENT', 'LIST'))).toContain('name=honest')
      expect(said).not.toContain('cut')
      const told = /^its port was nearly full \(maxclients 60\): .* \d+ of user 65534$/
      // Those that came first may have found room before anything was done.
      await until(async () => told.test((await home.shard('a-1'))?.why ?? ''))
      expect(home.logged()).toContain('strangers fill the port of a shard')
    } finally {
      stranger.kill('SIGKILL')
      await ended
    }
  },
)

/** As a second user: it connects to the bus, and says nothing. */
const fillBusCode = (port: number) => `
import { connect } from 'node:net'
process.setgroups([${STRANGER}]); process.setgid(${STRANGER}); process.setuid(${STRANGER})
for (let n = 0; n < ${MOST}; n += 1) connect(${port}, '127.0.0.1').on('error', () => {})
console.log('there')
setInterval(() => {}, 60_000)
`

test.runIf(process.geteuid?.() === 0)(
  'connections to the bus that use up the files of an engine are reported, with their user',
  async () => {
    await using home = await makeHome()
    await using _agent = await home.start()
    const spec = await makeSpec({ cluster: true })
    await home.client.putShard({ params: { id: 'a-1' }, body: spec })
    await home.becomes('a-1', { state: 'running' })
    using admin = await connectAs('fairlead', spec)
    await admin.call('CONFIG', 'SET', 'maxclients', MOST)
    const stranger = spawn(process.execPath, ['--input-type=module', '-e', fillBusCode(spec.port + 10_000)], {
      cwd: '/',
      stdio: ['ignore', 'ignore', 'inherit'],
    })
    const ended = once(stranger, 'exit')
    try {
      const told = new RegExp(
        `^connections to its bus \\(port ${spec.port + 10_000}\\) .* \\d+ of user 65534$`,
      )
      await until(async () => told.test((await home.shard('a-1'))?.why ?? ''), { withinMs: 30_000 })
    } finally {
      stranger.kill('SIGKILL')
      await ended
    }
  },
)
