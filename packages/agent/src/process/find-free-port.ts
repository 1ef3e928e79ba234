import { createServer } from 'node:net'

const HIGHEST_PORT = 65_535

/**
 * Returns the first port of `from`..`to` (inclusive) that can be bound on `host` with the ports at the
 * distances `alsoFree`, none of them in `except`; null if there is none.
 */
export async function findFreePort(
  host: string,
  range: {
    readonly from: number
    readonly to: number
    readonly except: readonly number[]
    readonly alsoFree: readonly number[]
  },
): Promise<number | null> {
  const except = new Set(range.except)
  const may = (port: number): boolean => port >= 1 && port <= HIGHEST_PORT && !except.has(port)
  for (let port = Math.max(1, range.from); port <= Math.min(HIGHEST_PORT, range.to); port += 1) {
    const ports = [port, ...range.alsoFree.map((distance) => port + distance)]
    if (ports.every(may) && (await canBindAll(host, ports))) return port
  }
  return null
}

/** In sequence: it ends at the first occupied port. */
async function canBindAll(host: string, ports: readonly number[]): Promise<boolean> {
  for (const port of ports) if (!(await canBind(host, port))) return false
  return true
}

async function canBind(host: string, port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const server = createServer()
  server.once('error', () => resolve(false))
  server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(true)))
  return await promise
}
