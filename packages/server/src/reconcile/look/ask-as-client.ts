import type { Address } from '@fairlead/api'
import { connectEngine, type EngineConnection, EngineError, EngineUnreachable } from '@fairlead/engine'
import type { AskAsClient, CommandOutcome } from '../../fleet/endpoints/commands-service.ts'

/** An upgrade may hold the command for a while; people wait for it. */
const CONNECT_WITHIN_MS = 2_000
const ANSWER_WITHIN_MS = 5_000
/**
 * A reply is read, and written as JSON, in one turn of the event loop: 16 MB delayed all other requests for
 * 0.5 s. COMMAND has 12,600 values.
 */
const replyLimits = { bytes: 1024 * 1024, values: 20_000 }
/** Between shards of one database; a slot may move once during them. */
const MOST_REDIRECTS = 2

/** Sends a command as a client. Follows redirects only to these addresses, because an engine may name any. */
export const askAsClient: AskAsClient = askThrough(connectEngine)

type Connect = (
  options: Parameters<typeof connectEngine>[0],
) => Promise<Pick<EngineConnection, 'call'> & Disposable>

/** Like askAsClient, with another way to connect, for tests. */
export function askThrough(connect: Connect): AskAsClient {
  return async (addresses, command) => {
    let [at] = addresses
    for (let redirects = 0; at !== undefined; redirects += 1) {
      const { outcome, moved } = await askAt(connect, at, command)
      const to = addresses.find(({ host, port }) => `${host}:${port}` === moved)
      if (to === undefined || redirects === MOST_REDIRECTS) return outcome
      at = to
    }
    return { end: 'not sent', why: 'the database has no address' }
  }
}

async function askAt(
  connect: Connect,
  address: Address,
  { words, password, tls }: Parameters<AskAsClient>[1],
): Promise<{ readonly outcome: CommandOutcome; readonly moved?: string | undefined }> {
  const [name = Buffer.of(), ...args] = words
  let isSent = false
  try {
    using connection = await connect({
      address,
      login: { username: 'default', password },
      connectTimeoutMs: CONNECT_WITHIN_MS,
      commandTimeoutMs: ANSWER_WITHIN_MS,
      alsoBusy: true, // a command that was not answered in time is ended by SCRIPT KILL
      replyLimits,
      ...(tls !== null && { tls }),
    })
    isSent = true
    return { outcome: { end: 'answered', reply: await connection.call(name.toString('latin1'), ...args) } }
  } catch (cause) {
    if (cause instanceof EngineError) {
      const [, moved] = /^MOVED \d+ (\S+)$/.exec(cause.message) ?? []
      return { outcome: { end: 'refused', why: cause.message }, moved }
    }
    if (!(cause instanceof EngineUnreachable)) throw cause
    // The engine refused the connection itself, for example because a script runs.
    if (cause.cause instanceof EngineError) return { outcome: { end: 'refused', why: cause.cause.message } }
    const why = isSent ? `${cause.message}; the command may have been carried out` : cause.message
    return { outcome: { end: isSent ? 'unknown' : 'not sent', why } }
  }
}
