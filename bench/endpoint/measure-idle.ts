import { readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { until } from '../../e2e/until.ts'
import { runProxy } from '../../packages/proxy/test/run-proxy.ts'
import { dial, freePort, wish } from '../../packages/proxy/test/stage.ts'
import { IDLE_CONNECTIONS, type IdleMemory } from './summarize-endpoint.ts'

const AT_ONCE = 100
/** Each takes two files of the proxy, which keeps some more for itself. */
const KEPT_FILES = 400
const SETTLE_MS = 3_000
const params = { id: 'idle' }

/** The memory of a fresh proxy before and after many clients have come that then say nothing. */
export async function measureIdle(enginePort: number, nodeFlags: readonly string[]): Promise<IdleMemory> {
  await using proxy = await runProxy({ nodeFlags })
  const port = await freePort()
  await proxy.client.putEndpoint({ params, body: wish(port, enginePort) })
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
  // What was only needed to connect is given back meanwhile; clients that stay are not measured while they come.
  await pause(SETTLE_MS)
  return { connections, rssBytesBefore, rssBytes: rssBytes(pid) }
}

function mostFiles(): number {
  return Number(/^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1] ?? 1_024)
}

function rssBytes(pid: number): number {
  return 1024 * Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0)
}
