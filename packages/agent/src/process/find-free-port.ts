import { createServer } from 'node:net'

const HIGHEST_PORT = 65_535

/**
 * The first port of `from`..`to`, both included, for which it and the ports at the distances `alsoFree` from it can be
 * bound on `host` and are not excepted; null if there is none.
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

/** One after the other: the first taken port is enough to know. */
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
