import { Agent as PlainAgent, request as plainRequest } from 'node:http'
import { Agent as TlsAgent, request as tlsRequest } from 'node:https'

export interface Address {
  readonly host: string
  readonly port: number
}

/** Where the API says who the primary is. */
export interface Lookup {
  /** The database's own address in the API: `<base>/v1/bdbs/<uid>`. */
  readonly url: string
  /** Bearer token; may be renewed while the load runs. */
  readonly token: string
}

export interface PrimaryLookup extends Disposable {
  /** One request. Throws an Error that says what the API answered, or that it did not within a second. */
  ask(): Promise<Address>
  setToken(token: string): void
}

const ANSWER_WITHIN_MS = 1_000

/** Asks over one connection that is kept open, so that a lookup takes well under a millisecond. */
export function createPrimaryLookup({ url, token: first }: Lookup): PrimaryLookup {
  const tls = new URL(url).protocol === 'https:'
  const agent = tls
    ? new TlsAgent({ keepAlive: true, maxSockets: 1 })
    : new PlainAgent({ keepAlive: true, maxSockets: 1 })
  let token = first

  return {
    async ask() {
      const { status, text } = await get()
      if (status !== 200) throw new Error(`${url} answered ${status}: ${text.slice(0, 200)}`)
      return readPrimary(url, text)
    },
    setToken(renewed) {
      token = renewed
    },
    [Symbol.dispose]() {
      agent.destroy()
    },
  }

  function get(): Promise<{ status: number; text: string }> {
    const { promise, resolve, reject } = Promise.withResolvers<{ status: number; text: string }>()
    const headers = { accept: 'application/json', authorization: `Bearer ${token}` }
    const signal = AbortSignal.timeout(ANSWER_WITHIN_MS)
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
      const why = signal.aborted ? `no answer within ${ANSWER_WITHIN_MS} ms` : cause.message
      reject(new Error(`${url} could not be asked who the primary is: ${why}`, { cause }))
    }
  }
}

/** The primary is the first address of the first endpoint. Throws when the text names none. */
export function readPrimary(url: string, text: string): Address {
  const [host, port] = endpointOf(text)
  if (typeof host === 'string' && host !== '' && typeof port === 'number' && port > 0) return { host, port }
  throw new Error(`${url} names no endpoint: ${text.slice(0, 200)}`)
}

function endpointOf(text: string): readonly [unknown, unknown] {
  try {
    // Anything may have answered: each step down is optional, and the two leaves are checked above.
    const database = JSON.parse(text) as { endpoints?: { addr?: unknown[]; port?: unknown }[] } | null
    const endpoint = database?.endpoints?.[0]
    return [endpoint?.addr?.[0], endpoint?.port]
  } catch {
    // Not JSON: then it names no endpoint either.
    return [undefined, undefined]
  }
}
