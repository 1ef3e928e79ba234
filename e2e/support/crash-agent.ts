/**
 * The agent that ships, with one addition: it tells the crash-main.ts servers of each effect of its moves, and
 * waits for them, so that what happens at the points of a handover is decided in one place.
 */
import { once } from 'node:events'
import { existsSync, readdirSync, realpathSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { dirname, join } from 'node:path'
import { loadConfig } from '@fairlead/server'
import { runAgent } from '../../packages/cli/src/commands/agent.ts'

type OnEffect = (phase: 'before' | 'after', name: string) => void

/** A server that was stopped at this point does not answer: the agent goes on. */
const ANSWER_WITHIN_MS = 400
const SOCKET = /^effects-\d+\.sock$/

/** Calls `onEffect` for each effect of a move that this server has ordered; the agent waits for it. */
export async function hearEffects(home: string, onEffect: OnEffect): Promise<OnEffect> {
  // Servers that share an agent have homes of their own, with a link to its proxy.
  const proxy = join(home, 'proxy')
  const shared = existsSync(proxy) ? dirname(realpathSync(proxy)) : home
  let isMoving = false
  const heard = createServer((socket) => {
    socket
      .on('error', () => undefined)
      .on('data', (chunk) => {
        const [phase, name = ''] = chunk.toString().split(' ')
        if (isMoving) onEffect(phase === 'before' ? 'before' : 'after', name)
        socket.end()
      })
  })
  heard.listen(join(shared, `effects-${process.pid}.sock`)).unref()
  await once(heard, 'listening')
  return (phase, name) => {
    if (phase === 'after' && name === 'record-intent') isMoving = true
    if (phase === 'before' && name === 'record-serving') isMoving = false
    onEffect(phase, name)
  }
}

async function tell(home: string, what: string): Promise<void> {
  const servers = readdirSync(home).filter((name) => SOCKET.test(name))
  const asked = servers.map(async (name) => {
    const socket = connect(join(home, name))
    socket.on('error', () => undefined).resume()
    socket.write(what)
    await once(socket, 'close', { signal: AbortSignal.timeout(ANSWER_WITHIN_MS) }).catch(() => undefined)
    socket.destroy()
  })
  await Promise.all(asked)
}

if (import.meta.main) {
  const config = loadConfig(process.env)
  await runAgent(config, process.env, (phase, name) => tell(config.home, `${phase} ${name}`))
  if (process.connected) process.disconnect()
}
