import { existsSync } from 'node:fs'
import type { Config } from '@fairlead/server'
import type { Context } from '../../link/open-context.ts'
import { exitCodes } from '../../output/exit-codes.ts'
import { type Column, printList } from '../../output/print-answer.ts'
import { toldOf } from '../../output/say-fault.ts'
import type { Style, Terminal } from '../../output/terminal.ts'
import { withoutOrders } from '../../output/without-orders.ts'
import { type Check, checkMachine, fine, type Result } from './check-machine.ts'
import { checkServer } from './check-server.ts'

/** Prints the checks of this machine and of the way to the server. The exit code is 1 if one fails. */
export async function runDoctor(context: Context, config: () => Promise<Config>): Promise<void> {
  const { terminal, answer } = context
  const rows = [checkNode(), ...(await checkHere(context, config)), ...(await checkServer(context))]
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

/** A machine that is only a client needs none of it: it has a profile, and no FAIRLEAD_HOME. */
async function checkHere(context: Context, config: () => Promise<Config>): Promise<readonly Check[]> {
  if (process.platform !== 'linux') return []
  try {
    const read = await config()
    const isClient = !existsSync(read.home) && context.target().server !== undefined
    return isClient ? [] : await checkMachine(read, context.terminal.env['PATH'] ?? '')
  } catch (cause) {
    const { message, next } = toldOf(cause)
    const mend = next ?? 'docs/configuration.md has every variable'
    return [{ check: 'configuration', result: 'bad', what: message, mend }]
  }
}

const styles: Readonly<Record<Result, Style>> = { ok: 'good', warn: 'warn', bad: 'bad', none: 'dim' }

function draw(terminal: Terminal, { result, what, mend }: Check): string {
  const { done, bad } = terminal.glyphs
  const sign = { ok: done, warn: '!', bad, none: '-' }[result]
  const safe = (text: string) => withoutOrders(text).replaceAll(/\s*\n\s*/g, '; ')
  const below = mend === null ? '' : `    ${safe(mend)}\n`
  return `${terminal.paint(styles[result], sign)} ${safe(what)}\n${below}`
}
