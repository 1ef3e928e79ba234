import { type CommonOptions, type Context, openContext } from '../link/open-context.ts'
import { CommandFault } from '../output/command-fault.ts'
import { type Form, forms } from '../output/forms.ts'
import { printError } from '../output/print-error.ts'
import { endQuietly, openTerminal } from '../output/terminal.ts'
import { withoutOrders } from '../output/without-orders.ts'
import { findTarget } from '../profiles/find-target.ts'
import { openProfileFiles } from '../profiles/profile-files.ts'

/** Runs a command, and reports its failure in the form of its output, with the right exit code. */
export async function runClient(
  env: NodeJS.ProcessEnv,
  options: CommonOptions,
  work: (context: Context) => Promise<void>,
): Promise<void> {
  const gone = endQuietly()
  let form: Form = options.output ?? (options.json === true ? 'json' : 'table')
  try {
    form = formOf(env, options)
    await work(openContext(openTerminal(env, options, gone), options, form))
  } catch (cause) {
    if (gone.aborted) return
    const asJson = form === 'json' || form === 'jsonl'
    process.exitCode = printError(cause, { asJson, isTerminal: process.stderr.isTTY === true })
    if ((env['FAIRLEAD_DEBUG'] ?? '') !== '' && cause instanceof Error)
      process.stderr.write(withoutOrders(`${cause.stack}\n`))
  }
}

function formOf(env: NodeJS.ProcessEnv, options: CommonOptions): Form {
  const said = options.output ?? (options.json === true ? 'json' : undefined)
  if (said !== undefined) return said
  const { settings } = findTarget(openProfileFiles(env), env, options)
  const named = env['FAIRLEAD_OUTPUT'] || settings.output
  const form = forms.find((one) => one === named)
  if (named !== undefined && form === undefined)
    throw new CommandFault('usage', `${named} is no form of output; there are ${forms.join(', ')}`)
  return form ?? 'table'
}
