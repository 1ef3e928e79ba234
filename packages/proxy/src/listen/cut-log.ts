import type { Via } from '../connection/link.ts'

/** A line for the log: JSON, with what happened first. */
export type Log = (what: string, details: Readonly<Record<string, string | number>>) => void

/** A client that was cut or refused, or failed: its address, its links, and the reason. */
export interface Cut {
  readonly client: string
  readonly via: readonly Via[]
  readonly why: string
}

/** Tells the log of clients that were cut. Disposing of it tells what was left out so far. */
export interface CutLog extends Disposable {
  note(cut: Cut): void
}

/** A shard that dies takes thousands of clients with it: the first of a second stand for the others. */
const MOST_LINES = 20
const WINDOW_MS = 1_000

/** Logs cut clients of one endpoint, some lines at a time; the rest is counted. */
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

/** What an engine says of a command that it does not know quotes its arguments: they are data, or a password. */
function withoutArguments(why: string): string {
  return why.replace(/,? with args beginning with:.*/s, '')
}
