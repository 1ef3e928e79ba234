import { setTimeout as pause } from 'node:timers/promises'

/** The results of `clients` clients that each logged in repeatedly until `stop`. */
export interface Logins {
  readonly answered: number
  /** Refused for now (429). */
  readonly sentAway: number
  readonly perSecond: number
}

/** Logs in repeatedly with a right password. A refused client waits as long as the answer says. */
export async function logInUntil(
  stop: AbortSignal,
  { url, clients, password }: { readonly url: string; readonly clients: number; readonly password: string },
): Promise<Logins> {
  const began = performance.now()
  let answered = 0
  let sentAway = 0
  const request = {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ username: 'admin', password }),
  }
  const client = async () => {
    while (!stop.aborted) {
      const answer = await fetch(new URL('/v1/users/authorize', url), request)
      await answer.text()
      if (answer.status === 200) answered += 1
      else if (answer.status === 429) sentAway += 1
      else throw new Error(`a login was answered ${answer.status}`)
      if (answer.status === 429) await pause(Number(answer.headers.get('retry-after')) * 1000)
    }
  }
  await Promise.all(Array.from({ length: clients }, client))
  return { answered, sentAway, perSecond: answered / ((performance.now() - began) / 1000) }
}
