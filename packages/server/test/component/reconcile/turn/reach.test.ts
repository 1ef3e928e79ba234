import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Duplex } from 'node:stream'
import { setImmediate as aRound } from 'node:timers/promises'
import { EngineUnreachable } from '@fairlead/engine'
import { expect, test } from 'vitest'
import { createReaches } from '../../../../src/reconcile/turn/reach.ts'

const MOST = 16
const SHARDS = 100

/** An agent that waits for the maximum of parallel tunnels, and then answers that the engine is silent. */
async function startAgent() {
  const folder = await mkdtemp(join(tmpdir(), 'fairlead-reach-'))
  const path = join(folder, 'agent.sock')
  const server = createServer()
  const held: Duplex[] = []
  const seen = { asked: 0, mostAtOnce: 0 }
  const body = JSON.stringify({ error_code: 'unavailable', message: 'the engine gives no answer' })
  const answer = `HTTP/1.1 503 Service Unavailable\r\nconnection: close\r\ncontent-length: ${body.length}\r\n\r\n${body}`
  const answerLater = async () => {
    // More tunnels would be requested in the next rounds: a process accepts one connection per round.
    for (let round = 0; round < 2 * MOST; round += 1) await aRound()
    for (const one of held.splice(0)) one.end(answer)
  }
  server.on('upgrade', (_, socket: Duplex) => {
    held.push(socket)
    seen.asked += 1
    seen.mostAtOnce = Math.max(seen.mostAtOnce, held.length)
    if (held.length < MOST && seen.asked < SHARDS) return
    void answerLater()
  })
  server.listen(path)
  await once(server, 'listening')
  return {
    path,
    seen,
    async [Symbol.asyncDispose]() {
      server.close()
      await rm(folder, { recursive: true })
    },
  }
}

test('a database of many shards asks its agent for a few tunnels at once: if it asked for all, their deadlines would pass before the agent has opened them', async () => {
  await using agent = await startAgent()
  using reaches = createReaches({ agentSocket: agent.path, proxySocket: agent.path })
  const { engines } = reaches.under(1, 1)
  const ends = await Promise.allSettled(
    Array.from({ length: SHARDS }, (_, n) =>
      engines.connect({ uid: 1 }, { id: n + 1, host: '127.0.0.1', port: n + 1 }),
    ),
  )
  for (const end of ends) expect(end.status === 'rejected' && end.reason).toBeInstanceOf(EngineUnreachable)
  expect(agent.seen).toEqual({ asked: SHARDS, mostAtOnce: MOST })
})
