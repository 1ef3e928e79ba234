import { Agent as PlainAgent, request as plainRequest } from 'node:http'
import { Agent as TlsAgent, request as tlsRequest } from 'node:https'
import { type Layout, readEndpoint, readShards } from './layout.ts'

/** Where the API names the primary, or the primaries. */
export interface Lookup {
  /** The database's own address in the API: `<base>/v1/bdbs/<uid>`. */
  readonly url: string
  /** Bearer token; may be renewed while the load runs. */
  readonly token: string
  /**
   * `one` asks for the endpoint of the database; `sharded` for its shards, at `<url>/shards`. Default `one`.
   */
  readonly groups?: 'one' | 'sharded'
}

export interface LayoutLookup extends Disposable {
  /**
   * One request. Throws an Error that says what the API answered, or that it did not: within a second, unless
   * another time is named.
   */
  ask(withinMs?: number): Promise<Layout>
  setToken(token: string): void
}

const ANSWER_WITHIN_MS = 1_000
/**
 * The time limit before the load and after it, when no request is repeated: the API or the machine may be
 * busy.
 */
export const ALONE_WITHIN_MS = 30_000

/** Asks over one connection that is kept open, so that a lookup takes well under a millisecond. */
export function createLayoutLookup({ url: database, token: first, groups = 'one' }: Lookup): LayoutLookup {
  const url = groups === 'one' ? database : `${database}/shards`
  const tls = new URL(url).protocol === 'https:'
  const agent = tls
    ? new TlsAgent({ keepAlive: true, maxSockets: 1 })
    : new PlainAgent({ keepAlive: true, maxSockets: 1 })
  let token = first

  return {
    async ask(withinMs = ANSWER_WITHIN_MS) {
      const { status, text } = await get(withinMs)
      if (status !== 200) throw new Error(`${url} answered ${status}: ${text.slice(0, 200)}`)
      return groups === 'one' ? readEndpoint(url, text) : readShards(url, text)
    },
    setToken(renewed) {
      token = renewed
    },
    [Symbol.dispose]() {
      agent.destroy()
    },
  }

  function get(withinMs: number): Promise<{ status: number; text: string }> {
    const { promise, resolve, reject } = Promise.withResolvers<{ status: number; text: string }>()
    const headers = { accept: 'application/json', authorization: `Bearer ${token}` }
    const signal = AbortSignal.timeout(withinMs)
    const request = (tls ? tlsRequest : plainRequest)(url, { agent, headers, signal }, (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (part: string) => {
        text += part
      })
      response.on('error', fail)
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }))
    })
    request.on('error', fail)
    request.end()
    return promise

    function fail(cause: Error): void {
      const why = signal.aborted ? `no answer within ${withinMs} ms` : cause.message
      reject(new Error(`${url} could not be asked for the primary: ${why}`, { cause }))
    }
  }
}
