import type { Context } from '../../link/open-context.ts'
import { exitCodes } from '../../output/exit-codes.ts'
import { type Column, printList } from '../../output/print-answer.ts'
import type { Style, Terminal } from '../../output/terminal.ts'
import { withoutOrders } from '../../output/without-orders.ts'
import { type Check, fine, type Result } from './check.ts'
import { checkServer } from './check-server.ts'

/** Checks a machine with Fairlead. */
export type CheckHere = (context: Context) => Promise<readonly Check[]>

/**
 * Prints the checks of this machine (null: it only has the client) and of the connection to the server. Exit
 * code 1 if one fails.
 */
export async function runDoctor(context: Context, checkHere: CheckHere | null): Promise<void> {
  const { terminal, answer } = context
  const rows = [checkNode(), ...((await checkHere?.(context)) ?? []), ...(await checkServer(context))]
  if (
    (answer.form === 'table' || answer.form === 'wide') &&
    answer.columns === undefined &&
    terminal.outIsTerminal
  )
    for (const row of rows) terminal.outPainted(draw(terminal, row))
  else printList(terminal, { rows, columns, nameOf: ({ check }) => check }, answer)
  if (rows.some(({ result }) => result === 'bad')) process.exitCode = exitCodes.failed.code
}

const columns: readonly Column<Check>[] = [
  { name: 'result', value: ({ result }) => result },
  { name: 'check', value: ({ check }) => check },
  { name: 'what', value: ({ what }) => what },
  { name: 'mend', value: ({ mend }) => mend },
]

function checkNode(): Check {
  return fine('node', `Node ${process.versions.node}`)
}

const styles: Readonly<Record<Result, Style>> = { ok: 'good', warn: 'warn', bad: 'bad', none: 'dim' }

function draw(terminal: Terminal, { result, what, mend }: Check): string {
  const { done, bad } = terminal.glyphs
  const sign = { ok: done, warn: '!', bad, none: '-' }[result]
  const safe = (text: string) => withoutOrders(text).replaceAll(/\s*\n\s*/g, '; ')
  const below = mend === null ? '' : `    ${safe(mend)}\n`
  return `${terminal.paint(styles[result], sign)} ${safe(what)}\n${below}`
}
