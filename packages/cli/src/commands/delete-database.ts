import type { deleteDatabase as deleteOperation, Output } from '@fairlead/api'
import type { CommonOptions, Context } from '../link/open-context.ts'
import { confirmByName, type Yes } from '../output/ask.ts'
import { CommandFault } from '../output/command-fault.ts'
import { isForPeople } from '../output/forms.ts'
import { printValue } from '../output/print-answer.ts'
import { counted, showBytes } from '../output/show-quantity.ts'
import { findDatabase } from './find-database.ts'
import { waitForEnd } from './upgrades/follow-action.ts'

/** The options of `databases delete`. */
export interface DeleteOptions extends CommonOptions {
  readonly dryRun?: boolean
  readonly yes?: Yes
  /** Commander: `--no-wait` makes it false. */
  readonly wait: boolean
}

type Plan = NonNullable<Output<typeof deleteOperation>['plan']>

/** Deletes a database with its data, after showing the effects and asking for its name. */
export async function deleteDatabase(context: Context, word: string, options: DeleteOptions): Promise<void> {
  const { terminal, answer } = context
  const link = await context.link()
  const { uid, name } = await findDatabase(link, word)
  const { plan } = await link.api.deleteDatabase({ params: { uid }, query: { dry_run: 'true' } })
  if (plan === undefined) throw new CommandFault('failed', 'the server has no plan of a deletion')
  const isTable = isForPeople(answer.form)
  if (options.dryRun === true) {
    terminal.out(isTable ? describe(name, plan) : printValue(plan, answer.form, answer))
    if (!plan.possible) throw refused(plan)
    if (isTable) terminal.say('Nothing was changed.\n')
    return
  }
  if (!plan.possible) throw refused(plan)
  await confirmByName(terminal, `${describe(name, plan)}On ${link.place}.`, name, options.yes)
  const { action_uid } = await link.api.deleteDatabase({ params: { uid } })
  if (options.wait && action_uid !== undefined)
    await waitForEnd(context, action_uid, `${name} is not deleted`)
  const done = { uid, name, ...(action_uid !== undefined && { action_uid }) }
  if (isTable)
    terminal.out(`${name} is ${options.wait ? 'deleted' : `being deleted: action ${action_uid}`}.\n`)
  else terminal.out(answer.form === 'name' ? `${name}\n` : printValue(done, answer.form, answer))
}

function refused({ obstacles }: Plan): CommandFault {
  const [first] = obstacles
  return new CommandFault('refused', 'It cannot be deleted now, and nothing was touched.', {
    obstacles: obstacles.map(({ message }) => message),
    ...(first !== undefined && { code: first.error_code }),
  })
}

function describe(name: string, plan: Plan): string {
  const { clients, keys, shards, memory_used, last_saved_time } = plan
  const lines = [
    `Deletes ${name} with all its data: ${keys === null ? 'keys that cannot be counted now' : counted(keys, 'key')}, ${counted(shards, 'shard')}.`,
    ...(clients === null || clients === 0 ? [] : [`Ends ${counted(clients, 'connection')} of clients.`]),
    ...(last_saved_time === null
      ? []
      : [`Its last snapshot, of ${last_saved_time}, is deleted, too. Backups stay: fairlead backups list`]),
    ...(memory_used === null ? [] : [`${showBytes(Number(memory_used))} of memory are given back.`]),
  ]
  return lines.map((line) => `${line}\n`).join('')
}
