import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { CommandFault } from './command-fault.ts'
import { folded } from './fold-text.ts'
import type { Terminal } from './terminal.ts'
import { withoutOrders } from './without-orders.ts'

/** The option `--yes`, which replaces an answer: alone it is true, `--yes=NAME` is the name. */
export type Yes = boolean | string | undefined

/**
 * Asks before a change. Throws CommandFault, before anything is sent, unless the answer is yes; also if there
 * is no person to ask and no `--yes`.
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

/** Asks for a name before a permanent loss. `--yes=NAME` replaces the answer. */
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
  return new CommandFault('failed', 'Not done: nothing was changed.')
}

/** Reads a line. Throws CommandFault on Ctrl-C and at the end of the input. */
export function askLine(terminal: Terminal, question: string): Promise<string> {
  return whileAsked(async (stopped) => {
    // The terminal echoes and edits the input.
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

/** The same without echo. */
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

/** Reads up to the line end from a terminal in raw mode. */
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
  // Only from outside: in raw mode, Ctrl-C is a key.
  stopped.addEventListener('abort', () => reject(interrupted()))
  stdin.on('data', read).resume()
  return promise.finally(() => stdin.off('data', read))
}

/** Ctrl-C at a question ends the command before anything is sent. */
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
  return new CommandFault('interrupted', 'Not done: nothing was changed.')
}

function signed(terminal: Terminal, question: string): string {
  const lines = folded(
    { outIsTerminal: terminal.interactive, columns: () => terminal.columns() - 2 },
    withoutOrders(question),
  )
  return terminal.paint('bold', lines.replaceAll(/^/gm, '! '), 'err')
}
