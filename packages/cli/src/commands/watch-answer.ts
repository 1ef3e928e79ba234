import { setTimeout as pause } from 'node:timers/promises'
import { listenForStop } from '../link/listen-for-stop.ts'
import type { Context } from '../link/open-context.ts'
import { CommandFault } from '../output/command-fault.ts'
import { exitCodes } from '../output/exit-codes.ts'
import { toldOf } from '../output/say-fault.ts'
import type { Terminal } from '../output/terminal.ts'

/** How often it is asked for again. */
const EVERY_MS = 2_000

/**
 * Shows an answer again and again, until Ctrl-C: on a terminal in its place, elsewhere as a line of JSON for each row that is new or has changed. A server that goes
 * away is waited for once it has answered. `show` prints the answer of this moment.
 */
export async function watchAnswer(
  context: Context,
  show: (context: Context) => Promise<void>,
  everyMs = EVERY_MS,
): Promise<void> {
  const { form, columns } = context.answer
  const isTable = form === 'table' || form === 'wide'
  if ((!isTable && form !== 'jsonl') || columns !== undefined)
    throw new CommandFault('usage', '--watch is a table on a terminal, and -o jsonl elsewhere')
  using stop = listenForStop({ gone: context.terminal.gone })
  const isDrawn = isTable && context.terminal.progress === 'draw'
  using view = isDrawn ? await openTable(context) : openLines(context)
  let hasAnswered = false
  while (!stop.signal.aborted) {
    try {
      view.answered(await capture(view.context, show))
      hasAnswered = true
    } catch (cause) {
      if (!hasAnswered || toldOf(cause).exit !== 'unreached') throw cause
      view.away()
    }
    await pause(everyMs, undefined, { signal: stop.signal }).catch(() => undefined)
  }
  process.exitCode = exitCodes[stop.why() === 'terminated' ? 'terminated' : 'interrupted'].code
}

interface View extends Disposable {
  /** What the answer is printed with. */
  readonly context: Context
  answered(text: string): void
  /** The server does not answer just now. */
  away(): void
}

async function openTable(context: Context): Promise<View> {
  const { openLiveBlock } = await import('../output/live-block.ts')
  const { terminal } = context
  const block = openLiveBlock(terminal)
  let lines: readonly string[] = []
  const draw = (note: readonly string[]) => {
    const room = Math.max(1, terminal.rows() - 6 - note.length)
    const shown = lines.length > room ? lines.slice(0, room) : lines
    const rest = lines.length > room ? [`… and ${lines.length - room} more`] : []
    block.show([...shown, ...rest, ...note].map((text) => ({ text })))
  }
  return {
    context,
    answered(text) {
      lines = text.replace(/\n$/, '').split('\n')
      draw([])
    },
    away: () => draw(['', 'the server does not answer; it is asked again']),
    [Symbol.dispose]() {
      block[Symbol.dispose]()
      // What was seen last stays.
      terminal.out(lines.map((line) => `${line}\n`).join(''))
    },
  }
}

function openLines(context: Context): View {
  const { terminal } = context
  let before: ReadonlySet<string> = new Set()
  let isAway = false
  return {
    context: { ...context, answer: { ...context.answer, form: 'jsonl' } },
    answered(text) {
      isAway = false
      const now = text.split('\n').filter((line) => line !== '')
      terminal.out(
        now
          .filter((line) => !before.has(line))
          .map((line) => `${line}\n`)
          .join(''),
      )
      before = new Set(now)
    },
    away() {
      if (!isAway) terminal.say('the server does not answer; it is asked again\n')
      isAway = true
    },
    [Symbol.dispose]: () => undefined,
  }
}

/** What would be printed, without colours: the place of a line is found by its width. */
async function capture(context: Context, show: (context: Context) => Promise<void>): Promise<string> {
  let text = ''
  const add = (more: string) => {
    text += more
  }
  const terminal: Terminal = {
    ...context.terminal,
    ...{ out: add, outPainted: add, say: add, sayPainted: add, paint: (_, plain) => plain },
  }
  await show({ ...context, terminal })
  return text
}
