import { execFile } from 'node:child_process'
import { pbkdf2 } from 'node:crypto'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { repeatedQuestion } from '../../src/ask-in-order.ts'
import { connectEngine } from '../../src/connection.ts'

test('a connection that was refused keeps no process alive', async () => {
  const program = `
    import { connectEngine } from ${JSON.stringify(new URL('../../src/connection.ts', import.meta.url).href)}
    const address = { host: '127.0.0.1', port: 1 }
    await connectEngine({ address, login: { username: 'nobody', password: '' } }).catch(() => console.log('refused'))
    setTimeout(() => console.log('and still there'), 1_000).unref()
  `
  const args = ['--conditions=@fairlead/source', '--input-type=module', '--eval', program]
  expect((await promisify(execFile)(process.execPath, args)).stdout).toBe('refused\n')
})

test('a connection that is closed several times listens once for the end of its socket', async () => {
  const sockets = new Set<Socket>()
  // It says what an engine says to a login, and then nothing: it is stopped.
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.once('data', () => socket.write('+OK\r\n+PONG\r\n'))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const warnings: string[] = []
  const hear = ({ name }: Error) => void warnings.push(name)
  process.on('warning', hear)
  const { port } = server.address() as AddressInfo
  const connection = await connectEngine({
    address: { host: '127.0.0.1', port },
    login: { username: 'nobody', password: '' },
    connectTimeoutMs: 20_000,
  })
  for (let n = 0; n < 12; n += 1) connection[Symbol.dispose]()
  await new Promise((resolve) => setImmediate(resolve))
  process.off('warning', hear)
  for (const socket of sockets) socket.destroy()
  server.close()
  expect(warnings).toEqual([])
})

test('a connection that was not opened in time is not opened later', async () => {
  const opened: Socket[] = []
  const server = createServer((socket) => {
    opened.push(socket)
    socket.once('data', () => socket.write('+OK\r\n+PONG\r\n'))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const options = {
    address: { host: '127.0.0.1', port: (server.address() as AddressInfo).port },
    login: { username: 'nobody', password: '' },
  }
  // The threads that read files are busy, as on an overloaded machine: the owner of the port is not proven in
  // time.
  const busy = Array.from({ length: 8 }, () => promisify(pbkdf2)('', '', 200_000, 64, 'sha512'))
  await expect(connectEngine({ ...options, connectTimeoutMs: 1 })).rejects.toThrow('no connection within')
  await Promise.all(busy)
  // A connection of the call before would be open before this one.
  using _ = await connectEngine({ ...options, connectTimeoutMs: 10_000 })
  expect(opened).toHaveLength(1)
  for (const socket of opened) socket.destroy()
  server.close()
})

test('an answer in the bytes of the one before is the same value, however they arrive, and any other is read', async () => {
  const words = Array.from({ length: 120 }, (_, n) => `setting-${n}`)
  const list = (first: string) => `*120\r\n${words.map((each, n) => bulk(n === 0 ? first : each)).join('')}`
  const answers = [
    ...[bulk('role:master'), list('one')],
    ...[bulk('role:master'), list('one')],
    ...[bulk('role:slave'), list('two')],
    ...['-BUSY a script\r\n', list('two')],
    ...[bulk('role:slave'), list('one')],
  ]
  await using engine = await serveAnswers(answers)
  using connection = await connectEngine(engine.options)
  const [info, settings] = [repeatedQuestion(['INFO']), repeatedQuestion(['CONFIG', 'GET', '*'])]
  const ask = async () => {
    const [role, values] = await Promise.allSettled([
      connection.callAgain(info),
      connection.callAgain(settings),
    ])
    return [role, values].map((one) => (one.status === 'fulfilled' ? one.value : String(one.reason)))
  }
  const first = await ask()
  expect(first).toEqual(['role:master', ['one', ...words.slice(1)]])
  const again = await ask()
  expect([again[0], again[1] === first[1]]).toEqual(['role:master', true])
  const changed = await ask()
  expect(changed).toEqual(['role:slave', ['two', ...words.slice(1)]])
  const busy = await ask()
  expect([busy[0], busy[1] === changed[1]]).toEqual(['EngineError: BUSY a script', true])
  expect(await ask()).toEqual(['role:slave', ['one', ...words.slice(1)]])
  expect(engine.heard().match(/INFO|CONFIG/g)).toHaveLength(answers.length)
})

test('an answer that is too long to be kept is read each time', async () => {
  const text = 'x'.repeat(100_000)
  await using engine = await serveAnswers([bulk(text), bulk('y'), bulk('y')])
  using connection = await connectEngine(engine.options)
  const question = repeatedQuestion(['INFO'])
  expect(await connection.callAgain(question)).toBe(text)
  expect(question.last).toBeNull()
  expect(await connection.callAgain(question)).toBe('y')
  expect(question.last).not.toBeNull()
  expect(await connection.callAgain(question)).toBe('y')
})

function bulk(text: string): string {
  return `$${text.length}\r\n${text}\r\n`
}

/**
 * Accepts one login, and says these answers, one for each command that comes, in pieces that are cut within
 * them.
 */
async function serveAnswers(answers: readonly string[]) {
  let [heard, said] = ['', 0]
  const server = createServer((socket) => {
    socket.once('data', () => {
      socket.write('+OK\r\n+PONG\r\n')
      socket.on('data', (bytes) => {
        heard += String(bytes)
        const commands = heard.match(/^\*\d/gm)?.length ?? 0
        const text = answers.slice(said, commands).join('')
        said = commands
        for (let at = 0; at < text.length; at += 701) socket.write(text.slice(at, at + 701))
      })
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    options: {
      address: { host: '127.0.0.1', port },
      login: { username: 'nobody', password: '' },
      connectTimeoutMs: 60_000,
      commandTimeoutMs: 60_000,
    },
    heard: () => heard,
    async [Symbol.asyncDispose]() {
      server.close()
      await once(server, 'close')
    },
  }
}

test('an engine that a script keeps busy accepts only a connection that is to end the script', async () => {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    let asked = ''
    socket.on('data', (chunk) => {
      asked += chunk
      if (asked.includes('KILL')) socket.write('+OK\r\n')
      else if (asked.includes('PING')) socket.write('+OK\r\n-BUSY a script runs\r\n')
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const options = {
    address: { host: '127.0.0.1', port: (server.address() as AddressInfo).port },
    login: { username: 'nobody', password: '' },
    connectTimeoutMs: 20_000,
  }
  await expect(connectEngine(options)).rejects.toThrow('BUSY')
  using connection = await connectEngine({ ...options, alsoBusy: true })
  expect(await connection.call('SCRIPT', 'KILL')).toBe('OK')
  for (const socket of sockets) socket.destroy()
  server.close()
})
