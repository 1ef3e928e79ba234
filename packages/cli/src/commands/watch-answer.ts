import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { listenForStop, type StopReason } from '../link/listen-for-stop.ts'
import type { Context } from '../link/open-context.ts'
import { CommandFault } from '../output/command-fault.ts'
import { exitCodes } from '../output/exit-codes.ts'
import { isForPeople } from '../output/forms.ts'
import type { Terminal } from '../output/terminal.ts'
import { isAway } from './upgrades/follow-action.ts'

/** Polling interval. */
const EVERY_MS = 2_000

/**
 * Shows an answer repeatedly until Ctrl-C: on a terminal in place, elsewhere one JSON line per new or changed
 * row. Waits for an unreachable server after its first answer. `show` prints the current answer.
 */
export async function watchAnswer(
  context: Context,
  show: (context: Context) => Promise<void>,
  everyMs = EVERY_MS,
): Promise<void> {
  const { form, columns } = context.answer
  const isTable = isForPeople(form)
  if ((!isTable && form !== 'jsonl') || columns !== undefined)
    throw new CommandFault('usage', '--watch is a table on a terminal, and -o jsonl elsewhere')
  const isDrawn = isTable && context.terminal.progress === 'draw'
  const { why, isAsking } = await watchUntilStopped(context, show, { everyMs, isDrawn })
  // The reader has gone, like after `| head`: no fault.
  if (context.terminal.gone.aborted) return
  process.exitCode = exitCodes[why === 'terminated' ? 'terminated' : 'interrupted'].code
  // A hanging server would keep this process alive until the timeout. Signals now have their usual effect
  // again.
  if (isAsking) process.kill(process.pid, why === 'terminated' ? 'SIGTERM' : 'SIGINT')
}

async function watchUntilStopped(
  context: Context,
  show: (context: Context) => Promise<void>,
  { everyMs, isDrawn }: { readonly everyMs: number; readonly isDrawn: boolean },
): Promise<{ readonly why: StopReason | undefined; readonly isAsking: boolean }> {
  using stop = listenForStop({ gone: context.terminal.gone })
  const stopped = once(stop.signal, 'abort')
  using view = isDrawn ? await openTable(context) : openLines(context)
  let hasAnswered = false
  while (!stop.signal.aborted) {
    try {
      const text = await Promise.race([capture(view.context, show), stopped.then(() => undefined)])
      if (text === undefined) return { why: stop.why(), isAsking: true }
      view.answered(text)
      hasAnswered = true
    } catch (cause) {
      if (!hasAnswered || !isAway(cause)) throw cause
      view.away()
    }
    await pause(everyMs, undefined, { signal: stop.signal }).catch(() => undefined)
  }
  return { why: stop.why(), isAsking: false }
}

interface View extends Disposable {
  /** The context to print the answer with. */
  readonly context: Context
  answered(text: string): void
  /** Called when the server does not answer. */
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
      // The last answer stays visible.
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

/** The output of `show` without colours, because places in a line are found by width. */
async function capture(context: Context, show: (context: Context) => Promise<void>): Promise<string> {
  let text = ''
  const add = (more: string) => {
    text += more
  }
  const terminal: Terminal = {
    ...context.terminal,
    out: add,
    outPainted: add,
    say: add,
    sayPainted: add,
    paint: (_, plain) => plain,
  }
  await show({ ...context, terminal })
  return text
}
