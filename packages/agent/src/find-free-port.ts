import { createServer } from 'node:net'

/** The first port of `from`..`to`, both included, that can be bound on `host` and is not excepted; null if none. */
export async function findFreePort(
  host: string,
  range: { readonly from: number; readonly to: number; readonly except: readonly number[] },
): Promise<number | null> {
  const except = new Set(range.except)
  for (let port = Math.max(1, range.from); port <= Math.min(65_535, range.to); port += 1)
    if (!except.has(port) && (await canBind(host, port))) return port
  return null
}

async function canBind(host: string, port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const server = createServer()
  server.once('error', () => resolve(false))
  server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(true)))
  return await promise
}
