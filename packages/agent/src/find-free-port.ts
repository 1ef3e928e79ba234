import { createServer } from 'node:net'

/**
 * The first port of `from`..`to`, both included, that can be bound on `host` and is not excepted, and above which the
 * ports at the distances `alsoFree` can be bound too; null if none.
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
  const highest = 65_535 - Math.max(0, ...range.alsoFree)
  for (let port = Math.max(1, range.from); port <= Math.min(highest, range.to); port += 1) {
    if (except.has(port)) continue
    const ports = [port, ...range.alsoFree.map((distance) => port + distance)]
    const free = await Promise.all(ports.map((one) => canBind(host, one)))
    if (free.every((one) => one)) return port
  }
  return null
}

async function canBind(host: string, port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const server = createServer()
  server.once('error', () => resolve(false))
  server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(true)))
  return await promise
}
