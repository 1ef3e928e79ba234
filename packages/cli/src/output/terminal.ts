import { exitCodes } from './exit-codes.ts'
import { withoutOrders } from './without-orders.ts'

/** Streams of a command: stdout for data, stderr for messages. Decides whether to draw, ask and colour. */
export interface Terminal {
  readonly env: NodeJS.ProcessEnv
  /** All three streams are terminals, and a person may be asked. */
  readonly interactive: boolean
  readonly outIsTerminal: boolean
  /** How progress is shown. */
  readonly progress: 'draw' | 'lines' | 'none'
  readonly columns: () => number
  readonly rows: () => number
  readonly glyphs: Glyphs
  /** Aborted when the reader of stdout has gone. */
  readonly gone: AbortSignal
  /** Prints data without control characters. */
  out(text: string): void
  /** Prints a message. */
  say(text: string): void
  /** Prints painted text. Foreign parts of it must have passed withoutOrders. */
  outPainted(text: string): void
  sayPainted(text: string): void
  paint(style: Style, text: string, stream?: 'out' | 'err'): string
}

/** Options of the output. */
export interface TerminalFlags {
  readonly quiet?: boolean | undefined
  /** Commander: `--no-input` makes it false. */
  readonly input?: boolean | undefined
  readonly color?: string | undefined
  readonly progress?: string | undefined
}

const styles = { good: 32, warn: 33, bad: 31, dim: 2, bold: 1 } as const
/** Styles of text. A style never carries information that the text lacks. */
export type Style = keyof typeof styles

const nice = {
  dot: '●',
  work: '◐',
  idle: '◌',
  hand: '◷',
  done: '✓',
  stuck: '▲',
  bad: '✗',
  arrow: '→',
  by: '×',
}
/** For ASCII terminals. */
export const plainGlyphs = {
  dot: '*',
  work: '~',
  idle: '.',
  hand: '?',
  done: '+',
  stuck: '!',
  bad: 'x',
  arrow: '->',
  by: 'x',
}
/** Signs that the terminal can show. */
export type Glyphs = Readonly<typeof nice>

/** The terminal of this process. */
export function openTerminal(env: NodeJS.ProcessEnv, flags: TerminalFlags, gone: AbortSignal): Terminal {
  const { stdin, stdout, stderr } = process
  const isDumb = env['TERM'] === 'dumb'
  const isColourless = flags.color === 'never' || (env['NO_COLOR'] ?? '') !== '' || isDumb
  const areTerminals = stdin.isTTY === true && stdout.isTTY === true && stderr.isTTY === true
  const progress = flags.progress ?? env['FAIRLEAD_PROGRESS'] ?? 'auto'
  const mayDraw = areTerminals && !isDumb && (env['CI'] ?? '') === ''
  const painted = { out: stdout.isTTY === true && !isColourless, err: stderr.isTTY === true && !isColourless }
  const sayPainted = (text: string) => {
    if (flags.quiet !== true) stderr.write(text)
  }
  return {
    env,
    interactive: mayDraw && flags.input !== false,
    outIsTerminal: stdout.isTTY === true,
    progress:
      progress === 'none' || flags.quiet === true
        ? 'none'
        : mayDraw && progress === 'auto'
          ? 'draw'
          : 'lines',
    // A terminal of unknown size reports 0.
    columns: () => stdout.columns || 80,
    rows: () => stdout.rows || 24,
    glyphs: isAscii(env) ? plainGlyphs : nice,
    gone,
    out: (text) => void stdout.write(withoutOrders(text)),
    say: (text) => sayPainted(withoutOrders(text)),
    outPainted: (text) => void stdout.write(text),
    sayPainted,
    paint: (style, text, stream = 'out') =>
      painted[stream] && text !== '' ? `\u001b[${styles[style]}m${text}\u001b[0m` : text,
  }
}

function isAscii(env: NodeJS.ProcessEnv): boolean {
  if ((env['FAIRLEAD_ASCII'] ?? '') !== '') return true
  return !/utf-?8/i.test(env['LC_ALL'] || env['LC_CTYPE'] || env['LANG'] || '')
}

/** Aborts the signal when the reader of stdout has gone (`| head -1`): no failure, unlike a full disk. */
export function endQuietly(): AbortSignal {
  const gone = new AbortController()
  process.stdout.on('error', (cause: NodeJS.ErrnoException) => {
    if (cause.code !== 'EPIPE') process.exitCode = exitCodes.failed.code
    gone.abort()
  })
  process.stderr.on('error', () => undefined)
  return gone.signal
}
