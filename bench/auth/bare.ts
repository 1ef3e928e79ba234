import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'

const STARTS_WITHIN_MS = 20_000

/** A bare Fastify route that answers `payload`, over plain HTTP and over HTTPS with this certificate. Disposing of it ends its process. */
export async function startBareRoute(
  payload: object,
  pair: { readonly cert: string; readonly key: string },
): Promise<{ readonly url: string; readonly httpsUrl: string } & AsyncDisposable> {
  const child = start('bare-route.ts', [])
  child.send({ payload, pair })
  const { url, httpsUrl } = (await hear(child, STARTS_WITHIN_MS)) as { url: string; httpsUrl: string }
  return {
    ...{ url, httpsUrl },
    async [Symbol.asyncDispose]() {
      child.disconnect()
      await once(child, 'exit')
    },
  }
}

/** Bare password checks a second, `atOnce` of them at a time. */
export async function bareHashesPerSecond(atOnce: number, seconds: number): Promise<number> {
  const child = start('bare-hashing.ts', [String(atOnce), String(seconds)])
  const { perSecond } = (await hear(child, STARTS_WITHIN_MS + seconds * 1000)) as { perSecond: number }
  await once(child, 'exit')
  return perSecond
}

function start(program: string, args: readonly string[]): ChildProcess {
  return fork(join(import.meta.dirname, program), args, { execArgv: ['--conditions=@fairlead/source'] })
}

async function hear(child: ChildProcess, withinMs: number): Promise<unknown> {
  const [news] = await once(child, 'message', { signal: AbortSignal.timeout(withinMs) })
  return news
}
