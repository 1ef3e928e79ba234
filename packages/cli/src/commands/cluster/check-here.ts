import { existsSync } from 'node:fs'
import type { Config } from '@fairlead/server'
import type { Context } from '../../link/open-context.ts'
import { toldOf } from '../../output/print-error.ts'
import type { Check } from './check.ts'
import { checkMachine } from './check-machine.ts'

/** Checks this machine, except a pure client: one with a profile and without FAIRLEAD_HOME. */
export async function checkHere(context: Context, config: () => Promise<Config>): Promise<readonly Check[]> {
  if (process.platform !== 'linux') return []
  try {
    const read = await config()
    const isClient = !existsSync(read.home) && context.target().server !== undefined
    return isClient ? [] : await checkMachine(read, context.terminal.env['PATH'] ?? '')
  } catch (cause) {
    const { message, next } = toldOf(cause)
    const mend = next ?? 'docs/reference/configuration.md has every variable'
    return [{ check: 'configuration', result: 'bad', what: message, mend }]
  }
}
