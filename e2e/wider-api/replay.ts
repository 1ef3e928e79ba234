import { once } from 'node:events'
import { type Agent, request } from 'node:https'
import { until } from '../../proof/until.ts'

/** A literal request as a program of the wider API sends it, and what the program reads of the answer. */
export interface Replay {
  readonly sends: readonly [method: string, path: string, body?: unknown]
  /** Other headers than Basic of the admin and `Content-Type: application/json`; `authorization: ''` for none. */
  readonly headers?: Readonly<Record<string, string>>
  /** 200 unless it says otherwise. */
  readonly status?: number
  /** As `toMatchObject` compares. */
  readonly reads?: unknown
  readonly readsHeaders?: Readonly<Record<string, unknown>>
  /** It asks until this holds. */
  readonly until?: (body: Json) => boolean
  /** Parts of the answer that later requests name as `{name}`: from the name to the way there. */
  readonly keeps?: Readonly<Record<string, (body: Json) => string | number | undefined>>
}

/** An answer, read as programs do that know what to expect. */
// biome-ignore lint/suspicious/noExplicitAny: the tables say what they read, and the test compares it.
export type Json = any

/** An answer, as it came. */
export interface Heard {
  readonly status: number
  readonly headers: Readonly<Record<string, unknown>>
  readonly body: Json
}

/** Sends the requests of a program one after the other, with what earlier answers gave in their places. */
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
      ...{ port, agent, method, path: fill(path), host: '127.0.0.1', servername: 'localhost' },
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
