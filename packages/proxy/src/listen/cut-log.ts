import type { Via } from '../connection/link.ts'

/** Writes a JSON log line that begins with `what`. */
export type Log = (what: string, details: Readonly<Record<string, string | number>>) => void

/** A client that was closed, refused or failed: address, links, reason. */
export interface Cut {
  readonly client: string
  readonly via: readonly Via[]
  readonly why: string
}

/** Logs closed clients. Dispose to log the number of omitted lines. */
export interface CutLog extends Disposable {
  note(cut: Cut): void
}

/** When a shard dies, thousands of clients are closed: only the first of each second are logged. */
const MOST_LINES = 20
const WINDOW_MS = 1_000

/** Logs closed clients of one endpoint, up to 20 a second; the rest is counted. */
export function createCutLog(endpoint: string, log: Log): CutLog {
  let lines = 0
  let leftOut = 0
  let timer: NodeJS.Timeout | undefined
  const end = (): void => {
    clearTimeout(timer)
    timer = undefined
    if (leftOut > 0) log('more clients were cut', { endpoint, count: leftOut })
    lines = 0
    leftOut = 0
  }
  return {
    note({ client, via, why }) {
      timer ??= setTimeout(end, WINDOW_MS).unref()
      lines += 1
      if (lines > MOST_LINES) {
        leftOut += 1
        return
      }
      const links = via.length === 0 ? {} : { via: list(via, 'address'), shard: list(via, 'shard') }
      log('client was cut', { endpoint, client, ...links, why: withoutArguments(why) })
    },
    [Symbol.dispose]: end,
  }
}

function list(via: readonly Via[], part: keyof Via): string {
  return via.map((each) => each[part]).join(' ')
}

/** An engine's error about an unknown command quotes arguments: data, perhaps a password. */
function withoutArguments(why: string): string {
  return why.replace(/,? with args beginning with:.*/s, '')
}
