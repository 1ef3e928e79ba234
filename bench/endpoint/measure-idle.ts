import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { type RunningProxy, runProxy } from '../../packages/proxy/test/run-proxy.ts'
import { dial, freePort, makeEndpointSpec } from '../../packages/proxy/test/stage.ts'
import { until } from '../../proof/until.ts'
import { IDLE_CONNECTIONS, type IdleMemory } from './summarize-endpoint.ts'

const AT_ONCE = 100
/** Each connection takes two files of the proxy, and the proxy needs some more for itself. */
const KEPT_FILES = 400
const SETTLE_MS = 3_000
const params = { id: 'idle' }

/**
 * The memory of a new proxy before and after many idle clients have connected. The proxy was started once
 * before: so Node has the compiled modules in its cache, and does not load the 20 MB of code that strip their
 * types.
 */
export async function measureIdle(
  enginePort: number,
  nodeFlags: readonly string[],
  workers: number,
): Promise<IdleMemory> {
  await using stack = new AsyncDisposableStack()
  const cache = await mkdtemp(join(tmpdir(), 'fairlead-bench-'))
  stack.defer(() => rm(cache, { recursive: true, force: true }))
  const env = { NODE_COMPILE_CACHE: cache }
  await endFirst(await runProxy({ nodeFlags, workers, env }))
  const proxy = stack.use(await runProxy({ nodeFlags, workers, env }))
  const port = await freePort()
  await proxy.client.putEndpoint({ params, body: makeEndpointSpec(port, enginePort) })
  const connections = Math.min(IDLE_CONNECTIONS, Math.floor((mostFiles() - KEPT_FILES) / 2))
  const pid = proxy.process().pid ?? 0
  const rssBytesBefore = rssBytes(pid)

  await using clients = new AsyncDisposableStack()
  for (let open = 0; open < connections; open += AT_ONCE) {
    const many = Array.from({ length: Math.min(AT_ONCE, connections - open) }, () => dial(port))
    for (const client of await Promise.all(many)) clients.use(client)
  }
  await until('all clients are connected', async () => {
    const [endpoint] = (await proxy.client.reportProxy({})).endpoints
    return endpoint?.connections === connections
  })
  // In this time, memory that was only needed to connect is freed.
  await pause(SETTLE_MS)
  return { connections, rssBytesBefore, rssBytes: rssBytes(pid) }
}

/** Node writes its cache when it ends normally. */
async function endFirst(first: RunningProxy): Promise<void> {
  await using proxy = first
  const child = proxy.process()
  const ended = once(child, 'exit')
  child.kill('SIGTERM')
  await ended
}

function mostFiles(): number {
  return Number(/^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1] ?? 1_024)
}

function rssBytes(pid: number): number {
  return 1024 * Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0)
}
