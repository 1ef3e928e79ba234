import { request } from 'node:http'
import { text } from 'node:stream/consumers'
import type { Changes } from '@fairlead/api'
import { type ChangeLog, createChangeLog } from '../../packages/agent/src/shards/changes.ts'

const WAIT_MS = 20_000

/**
 * Changes of simulated shards, together with those that the real agent at `socketPath` reports, in the format
 * of an agent.
 */
export interface ToldChanges extends AsyncDisposable {
  readonly log: ChangeLog
}

/** Resolves when everything that the real agent knows has been reported. */
export async function tellChanges(socketPath: string): Promise<ToldChanges> {
  const end = new AbortController()
  const first = await ask(socketPath, { boot: '', after: 0 }, end.signal)
  const log = createChangeLog(first.proxy)
  const take = ({ shards, gone, offsets, proxy }: Changes) => {
    for (const { id, mark } of shards) log.shard(id, mark)
    for (const id of gone) log.gone(id)
    for (const seen of offsets) log.offset(seen)
    log.proxy(proxy)
  }
  take(first)
  const hear = async () => {
    let { boot, seq } = first
    while (!end.signal.aborted) {
      const news = await ask(socketPath, { boot, after: seq }, end.signal)
      take(news)
      boot = news.boot
      seq = news.seq
    }
  }
  const hearing = hear().catch((cause: unknown) => {
    if (!end.signal.aborted) process.stderr.write(`simulated agent: nothing is heard: ${String(cause)}\n`)
  })
  return {
    log,
    async [Symbol.asyncDispose]() {
      end.abort()
      log[Symbol.dispose]()
      await hearing
    },
  }
}

async function ask(
  socketPath: string,
  since: { readonly boot: string; readonly after: number },
  signal: AbortSignal,
): Promise<Changes> {
  const { promise, resolve, reject } = Promise.withResolvers<Changes>()
  const headers = { 'content-type': 'application/json' }
  request({ socketPath, path: '/agent/changes', method: 'POST', headers, signal }, (response) => {
    text(response).then((answer) => resolve(JSON.parse(answer) as Changes), reject)
  })
    .once('error', reject)
    .end(JSON.stringify({ ...since, waitMs: WAIT_MS }))
  return await promise
}
