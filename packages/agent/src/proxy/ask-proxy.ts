import { request } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { createClient, ProxyReport, proxyOperations, type Transport } from '@fairlead/api'
import { countPieces } from '@fairlead/engine'
import { compileSchema } from '../process/check-schema.ts'

/** A look waits this long. A later answer counts as well: it shows that the proxy's loop works. */
const ASK_WITHIN_MS = 1_000
/** A question without an answer for this long is repeated. */
const ASK_AGAIN_MS = 30_000
/** After an answer, the next question is at least this much later. */
const ASK_EVERY_MS = 1_000
/** A person waits for a whole report. */
const WHOLE_REPORT_WITHIN_MS = 5_000
/** Endpoints per thread in the proxy's report. All of them would be most of an idle node's work. */
const ENOUGH = 1
/** Limit of the agent's memory for a compromised proxy. Ten thousand endpoints take a third. */
const MOST_BYTES = 16 << 20

export type ProxyAnswer = 'answers' | { readonly silentMs: number }

/** Repeatedly asks the proxy at one socket whether it lives. */
export interface ProxyProbe {
  /** Asks for a report if the last answer is old. Another process's answer does not count. Never throws. */
  ask(pid: number): Promise<ProxyAnswer>
  /** Call when another process will be asked. */
  forget(): void
}

/** Asks the proxy at this Unix socket for its report, one question at a time. */
export function createProxyProbe(socketPath: string): ProxyProbe {
  const client = createClient(proxyOperations, socketTransport(socketPath))
  let answeredAt: number | null = null
  let silentSince: number | null = null
  /** Pid of the process that answers the open question; null: it failed. */
  let open: Promise<number | null> | null = null
  const ask = async (): Promise<number | null> => {
    // The answer may have any form.
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
      // Counted from the end of the first failed question, so that a pause of the agent does not count.
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

/** Returns the proxy's report with all endpoints; null if none answers, or not in this form. */
export async function reportOfProxy(socketPath: string): Promise<ProxyReport | null> {
  const client = createClient(proxyOperations, socketTransport(socketPath, WHOLE_REPORT_WITHIN_MS))
  const report: unknown = await client.reportProxy({ query: {} }).catch(() => null)
  return isReport(report) ? report : null
}

const isReport = compileSchema<ProxyReport>(ProxyReport, 'body')

function socketTransport(socketPath: string, withinMs = ASK_AGAIN_MS): Transport {
  return ({ method, path, headers }) => {
    const { promise, resolve, reject } = Promise.withResolvers<{ status: number; text: string }>()
    const signal = AbortSignal.timeout(withinMs)
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
    // It switches to another protocol (101): otherwise the request would never end, not even at its deadline.
    sent.on('upgrade', (_response, stream) => {
      stream.destroy()
      reject(new Error('its answer is of another protocol (101)'))
    })
    sent.end()
    return promise
  }
}
