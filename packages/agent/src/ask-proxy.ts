import { request } from 'node:http'
import { createClient, proxyOperations, type Transport } from '@fairlead/api'

/** A loaded proxy may be slower than this now and then: only a long silence is held against it. */
const ASK_WITHIN_MS = 1_000
/** One that has answered is not asked again for this long. */
const ASK_EVERY_MS = 1_000

export type ProxyAnswer = 'answers' | { readonly silentMs: number }

/** Asks the proxy of one socket again and again whether it lives. */
export interface ProxyPulse {
  /** Asks for a report, if the last answer is a while ago. Another process that answers does not count. Never throws. */
  ask(pid: number): Promise<ProxyAnswer>
  /** Another process is asked from now on. */
  forget(): void
}

export function createProxyPulse(socketPath: string): ProxyPulse {
  const client = createClient(proxyOperations, socketTransport(socketPath))
  let answeredAt: number | null = null
  let silentSince: number | null = null
  const answersNow = async (pid: number): Promise<boolean> => {
    try {
      return (await client.reportProxy({})).pid === pid
    } catch {
      return false
    }
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
      // Counted from the end of the first vain question, so that the agent's own sleep is not held against the proxy.
      silentSince ??= performance.now()
      return { silentMs: Math.round(performance.now() - silentSince) }
    },
    forget() {
      answeredAt = null
      silentSince = null
    },
  }
}

function socketTransport(socketPath: string): Transport {
  return ({ method, path, headers }) => {
    const { promise, resolve, reject } = Promise.withResolvers<{ status: number; text: string }>()
    const signal = AbortSignal.timeout(ASK_WITHIN_MS)
    const sent = request({ socketPath, method, path, headers, agent: false, signal }, (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (part: string) => {
        text += part
      })
      response.on('error', reject)
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }))
    })
    sent.on('error', reject)
    sent.end()
    return promise
  }
}
