import { execFile } from 'node:child_process'
import { createServer } from 'node:net'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

test('a connection that was refused keeps no process alive', async () => {
  const program = `
    import { connectEngine } from ${JSON.stringify(new URL('connection.ts', import.meta.url).href)}
    const address = { host: '127.0.0.1', port: ${await closedPort()} }
    await connectEngine({ address, login: { username: 'nobody', password: '' } }).catch(() => console.log('refused'))
    setTimeout(() => console.log('and still there'), 1_000).unref()
  `
  const args = ['--conditions=@fairlead/source', '--input-type=module', '--eval', program]
  expect((await promisify(execFile)(process.execPath, args)).stdout).toBe('refused\n')
})

async function closedPort(): Promise<number> {
  const server = createServer()
  const listening = Promise.withResolvers<void>()
  server.listen(0, '127.0.0.1', () => listening.resolve())
  await listening.promise
  const address = server.address()
  const closed = Promise.withResolvers<void>()
  server.close(() => closed.resolve())
  await closed.promise
  return typeof address === 'object' && address !== null ? address.port : 0
}
