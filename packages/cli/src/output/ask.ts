import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { CommandFault } from './command-fault.ts'
import { folded } from './fold-text.ts'
import type { Terminal } from './terminal.ts'
import { withoutOrders } from './without-orders.ts'

/** What the command line says in place of an answer: `--yes` alone is true, `--yes=NAME` the name. */
export type Yes = boolean | string | undefined

/**
 * Asks before something is changed. Resolves when the answer is yes; throws CommandFault where it is not, and where no person can be asked and
 * `--yes` was not given: then nothing was sent.
 */
export async function confirm(terminal: Terminal, question: string, yes: Yes): Promise<void> {
  if (yes === true) return
  if (yes !== undefined && yes !== false)
    throw new CommandFault('usage', `--yes takes no name here, and it was given ${yes}; nothing was sent`)
  if (!terminal.interactive)
    throw new CommandFault(
      'usage',
      'this changes something, and no person can be asked here; nothing was sent',
      {
        next: 'say it on the command line: --yes',
      },
    )
  const answer = await askLine(terminal, `${question} [y/N] `)
  if (!/^y(es)?$/i.test(answer.trim())) throw declined()
}

/** Asks for a name, because something is lost for good. `--yes=NAME` says it on the command line. */
export async function confirmByName(
  terminal: Terminal,
  question: string,
  name: string,
  yes: Yes,
): Promise<void> {
  if (yes === name) return
  if (yes !== undefined && yes !== false)
    throw new CommandFault('usage', `this cannot be undone, so --yes alone is not enough; nothing was sent`, {
      next: `say the name: --yes=${name}`,
    })
  if (!terminal.interactive)
    throw new CommandFault(
      'usage',
      'this cannot be undone, and no person can be asked here; nothing was sent',
      {
        next: `say the name on the command line: --yes=${name}`,
      },
    )
  const answer = await askLine(terminal, `${question}\nType ${name} to go on: `)
  if (answer.trim() !== name) throw declined()
}

function declined(): CommandFault {
  return new CommandFault('failed', 'Stopped: nothing was sent, and nothing has changed.')
}

/** A line that a person types. Throws CommandFault at Ctrl-C, and where the input ends. */
export function askLine(terminal: Terminal, question: string): Promise<string> {
  return whileAsked(async (stopped) => {
    // The terminal itself shows what is typed, and lets it be mended.
    const lines = createInterface({ input: process.stdin, terminal: false })
    try {
      process.stderr.write(signed(terminal, question))
      const closed = once(lines, 'close', { signal: stopped }).then(() => undefined)
      const answer = await Promise.race([once(lines, 'line', { signal: stopped }), closed])
      if (answer === undefined)
        throw new CommandFault('usage', 'the input ended before there was an answer; nothing was sent')
      return String(answer[0])
    } finally {
      lines.close()
    }
  })
}

/** The same, and what is typed is not shown. */
export function askSecret(terminal: Terminal, question: string): Promise<string> {
  const { stdin, stderr } = process
  return whileAsked(async (stopped) => {
    stdin.setRawMode(true)
    stderr.write(signed(terminal, question))
    try {
      return await readTyped(stopped)
    } finally {
      stdin.setRawMode(false)
      stdin.pause()
      stderr.write('\n')
    }
  })
}

/** What is typed up to the line end, of a terminal in raw mode. */
function readTyped(stopped: AbortSignal): Promise<string> {
  const { stdin } = process
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  let typed = ''
  const read = (piece: Buffer) => {
    for (const sign of piece.toString()) {
      if (sign === '\u0003') reject(interrupted())
      else if (sign === '\r' || sign === '\n' || sign === '\u0004') resolve(typed)
      else typed = sign === '\u007f' || sign === '\b' ? typed.slice(0, -1) : typed + sign
    }
  }
  // From outside: in raw mode, Ctrl-C is a key.
  stopped.addEventListener('abort', () => reject(interrupted()))
  stdin.on('data', read).resume()
  return promise.finally(() => stdin.off('data', read))
}

/** Ctrl-C at a question ends the command: nothing was sent. */
async function whileAsked<T>(ask: (stopped: AbortSignal) => Promise<T>): Promise<T> {
  const stopped = new AbortController()
  const stop = () => stopped.abort()
  process.on('SIGINT', stop)
  try {
    return await ask(stopped.signal)
  } catch (cause) {
    if (!stopped.signal.aborted) throw cause
    process.stderr.write('\n')
    throw interrupted()
  } finally {
    process.off('SIGINT', stop)
  }
}

function interrupted(): CommandFault {
  return new CommandFault('interrupted', 'Stopped: nothing was sent.')
}

/** The first line of stdin, or of a file: where a password comes from that is not typed. */
export function firstLine(text: string): string {
  return text.replace(/\r?\n[\s\S]*$/, '')
}

function signed(terminal: Terminal, question: string): string {
  const lines = folded(
    { outIsTerminal: terminal.interactive, columns: () => terminal.columns() - 2 },
    withoutOrders(question),
  )
  return terminal.paint('bold', lines.replaceAll(/^/gm, '! '), 'err')
}
