import { connect } from 'node:net'
import { expect, test } from 'vitest'
import { askRole } from '../../../src/handover/ask-role.ts'
import { freePort, newest, startEngine } from '../../stage.ts'

const host = '127.0.0.1'

test('an engine that takes no connection in time is silent, so clients go on waiting; one that refuses it is gone', async () => {
  await using engine = await startEngine(newest, '--tcp-backlog', '1')
  engine.process.kill('SIGSTOP')
  // The kernel takes two connections for it, and lets all others wait.
  await using stack = new AsyncDisposableStack()
  for (let n = 0; n < 8; n += 1) {
    const socket = connect({ host, port: engine.port }).on('error', () => undefined)
    stack.defer(() => void socket.destroy())
  }
  expect(await askRole({ host, port: engine.port, tls: null }, null)).toBe('silent')
  expect(await askRole({ host, port: await freePort(), tls: null }, null)).toBe('unknown')
})
