import { once } from 'node:events'
import { type Agent, request } from 'node:https'
import { until } from '../../../proof/until.ts'

/** A literal request as a program of the wider API sends it, and what the program reads of the answer. */
export interface Replay {
  readonly sends: readonly [method: string, path: string, body?: unknown]
  /**
   * These override the usual headers, which are Basic of the admin and `Content-Type: application/json`;
   * `authorization: ''` sends none.
   */
  readonly headers?: Readonly<Record<string, string>>
  /** The expected status; 200 by default. */
  readonly status?: number
  /** The expected answer, compared with `toMatchObject`. */
  readonly reads?: unknown
  readonly readsHeaders?: Readonly<Record<string, unknown>>
  /** The request is repeated until this holds. */
  readonly until?: (body: Json) => boolean
  /** Parts of the answer that later requests use as `{name}`, each with the function that finds it. */
  readonly keeps?: Readonly<Record<string, (body: Json) => string | number | undefined>>
}

/** An answer, read as programs read it that know its shape. */
// biome-ignore lint/suspicious/noExplicitAny: the tables say what they read, and the test compares it.
export type Json = any

/** An answer, as it came. */
export interface Heard {
  readonly status: number
  readonly headers: Readonly<Record<string, unknown>>
  readonly body: Json
}

/** Sends the requests of a program one after the other, with the parts of earlier answers filled in. */
export function createReplayer(place: {
  readonly port: number
  readonly agent: Agent
  readonly authorization: string
}) {
  const kept = new Map<string, string>()
  const fill = (text: string) => text.replace(/\{(\w+)\}/g, (all, name: string) => kept.get(name) ?? all)
  const send = async ({ sends: [method, path, body], headers = {} }: Replay): Promise<Heard> => {
    const { port, agent, authorization } = place
    const text = body === undefined ? '' : fill(typeof body === 'string' ? body : JSON.stringify(body))
    const given = {
      authorization,
      // Node itself names no length of a body of DELETE.
      ...(body !== undefined && {
        'content-type': 'application/json',
        'content-length': String(Buffer.byteLength(text)),
      }),
      ...headers,
    }
    const sent = request({
      port,
      agent,
      method,
      path: fill(path),
      host: '127.0.0.1',
      servername: 'localhost',
      headers: Object.fromEntries(
        Object.entries(given).flatMap(([name, value]) => (value === '' ? [] : [[name, fill(value)]])),
      ),
    })
    sent.end(text)
    const [response] = await once(sent, 'response')
    let answer = ''
    for await (const chunk of response.setEncoding('utf8')) answer += chunk
    return {
      status: response.statusCode,
      headers: response.headers,
      body: answer === '' ? {} : JSON.parse(answer),
    }
  }
  return async (replay: Replay): Promise<Heard> => {
    let heard = await send(replay)
    const { until: holds, keeps = {} } = replay
    if (holds !== undefined)
      await until(
        `${replay.sends.join(' ')} reads what it waits for`,
        async () => {
          heard = await send(replay)
          return holds(heard.body)
        },
        { withinMs: 120_000 },
      )
    for (const [name, read] of Object.entries(keeps)) kept.set(name, String(read(heard.body)))
    return heard
  }
}
