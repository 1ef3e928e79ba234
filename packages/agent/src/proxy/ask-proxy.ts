import { request } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { createClient, proxyOperations, type Transport } from '@fairlead/api'
import { countPieces } from '@fairlead/engine'

/** A look waits this long for an answer. A later answer counts as well: it shows that the proxy's loop goes on. */
const ASK_WITHIN_MS = 1_000
/** A question without an answer for this long is asked again. */
const ASK_AGAIN_MS = 30_000
/** One that has answered is not asked again for this long. */
const ASK_EVERY_MS = 1_000
/** Endpoints of which each thread of the proxy is asked. All of them would be most of what an idle node does. */
const ENOUGH = 1
/** A client may have taken the proxy over: it cannot use more of the agent's memory than this. Ten thousand endpoints take a third. */
const MOST_BYTES = 16 << 20

export type ProxyAnswer = 'answers' | { readonly silentMs: number }

/** Asks the proxy of one socket repeatedly whether it lives. */
export interface ProxyProbe {
  /** Asks for a report, if the last answer is a while ago. Another process that answers does not count. Never throws. */
  ask(pid: number): Promise<ProxyAnswer>
  /** Another process is asked from now on. */
  forget(): void
}

/** Asks the proxy at this Unix socket for its report, one question at a time. */
export function createProxyProbe(socketPath: string): ProxyProbe {
  const client = createClient(proxyOperations, socketTransport(socketPath))
  let answeredAt: number | null = null
  let silentSince: number | null = null
  /** The pid of the process that answers the open question; null: it failed. */
  let open: Promise<number | null> | null = null
  const ask = async (): Promise<number | null> => {
    // Its answer may be anything.
    const asked = client.reportProxy({ query: { most: ENOUGH } }).then(
      (report: { readonly pid?: unknown } | null) => (typeof report?.pid === 'number' ? report.pid : null),
      () => null,
    )
    open = asked
    const pid = await asked
    if (open === asked) open = null
    return pid
  }
  const answersNow = async (pid: number): Promise<boolean> => {
    const late = new AbortController()
    const tooLate = delay(ASK_WITHIN_MS, null, { signal: late.signal, ref: false }).catch(() => null)
    const answered = await Promise.race([open ?? ask(), tooLate])
    late.abort()
    return answered === pid
  }
  return {
    async ask(pid) {
      if (answeredAt !== null && performance.now() - answeredAt < ASK_EVERY_MS) return 'answers'
      answeredAt = null
      if (await answersNow(pid)) {
        answeredAt = performance.now()
        silentSince = null
        return 'answers'
      }
      // Counted from the end of the first failed question, so that a pause of the agent itself does not count against the proxy.
      silentSince ??= performance.now()
      return { silentMs: Math.round(performance.now() - silentSince) }
    },
    forget() {
      open = null
      answeredAt = null
      silentSince = null
    },
  }
}

function socketTransport(socketPath: string): Transport {
  return ({ method, path, headers }) => {
    const { promise, resolve, reject } = Promise.withResolvers<{ status: number; text: string }>()
    const signal = AbortSignal.timeout(ASK_AGAIN_MS)
    const sent = request({ socketPath, method, path, headers, agent: false, signal }, (response) => {
      const areTooMany = countPieces()
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (part: string) => {
        text += part
        if (areTooMany(part.length)) response.destroy(new Error('its answer comes in too small pieces'))
        if (text.length > MOST_BYTES) response.destroy(new Error('its answer is too long'))
      })
      response.on('error', reject)
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }))
    })
    sent.on('error', reject)
    // It takes up another protocol (101): without this the request would never end, not by its deadline either.
    sent.on('upgrade', (_response, stream) => {
      stream.destroy()
      reject(new Error('its answer is of another protocol (101)'))
    })
    sent.end()
    return promise
  }
}
