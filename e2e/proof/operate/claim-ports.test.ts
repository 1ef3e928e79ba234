import { once } from 'node:events'
import { createServer } from 'node:net'
import { expect, test } from 'vitest'
import { claimPorts } from '../../../proof/claim-ports.ts'

test.each([
  ['a port', 42],
  ['the port between engines of a port', 10_042],
])('ports are passed over while something listens on %s of them', async (_, above) => {
  const before = await claimPorts()
  const server = createServer().listen(before.from + above, '127.0.0.1')
  await once(server, 'listening')
  await before[Symbol.asyncDispose]()
  await using during = await claimPorts()
  expect(during.from).not.toBe(before.from)
  server.close()
  await once(server, 'close')
})
