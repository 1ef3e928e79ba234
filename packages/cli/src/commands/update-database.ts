import type { Body, Database, updateDatabase as updateOperation } from '@fairlead/api'
import type { CommonOptions, Context } from '../link/open-context.ts'
import type { Yes } from '../output/ask.ts'
import { CommandFault } from '../output/command-fault.ts'
import { isForPeople } from '../output/forms.ts'
import { type Column, printOne } from '../output/print-answer.ts'
import { showBytes } from '../output/show-quantity.ts'
import type { Terminal } from '../output/terminal.ts'
import { type SettingsOptions, setFields, settingsIn } from './create-database.ts'
import { describeCopies } from './describe-database.ts'
import { findDatabase } from './find-database.ts'
import { guardChange } from './guard-change.ts'
import { changeGrants, columnsWithRoles } from './people/grants.ts'
import { readGivenPassword } from './people/read-password.ts'
import { waitForEnd } from './upgrades/follow-action.ts'

/** The options of `databases update`. */
export interface UpdateOptions extends CommonOptions, SettingsOptions {
  readonly memory?: number
  readonly name?: string
  readonly port?: number
  readonly tls?: boolean
  readonly passwordFile?: string
  readonly passwordStdin?: boolean
  /** Seconds. */
  readonly formerValid?: number
  readonly revoke: readonly string[]
  readonly dryRun?: boolean
  readonly yes?: Yes
}

/** Changes a database while it serves, and waits for its action. With `dryRun`, only prints the result. */
export async function updateDatabase(context: Context, word: string, options: UpdateOptions): Promise<void> {
  const { dryRun = false, yes } = options
  const settings = await fieldsIn(options)
  if (Object.keys(settings).length + options.grant.length + options.revoke.length === 0)
    throw new CommandFault('usage', 'nothing was named that is to change; nothing was sent')
  const link = await context.link()
  const before = await findDatabase(link, word)
  const { uid, name } = before
  const grants = await changeGrants(link, before.roles_permissions, options)
  const body = { ...grants.fields, ...settings }
  if (!dryRun) {
    const about = [
      `Database ${name} is changed while it serves.`,
      ...sizeAfter(options),
      ...grants.about,
      ...(options.defaultUser === false ? ['The user default signs in no more; its connections stay.'] : []),
      `From then on: ${describeCopies({ ...before, ...body })}.`,
    ].join(' ')
    const isLockout = options.revoke.length > 0 || options.defaultUser === false
    await guardChange(context, link, { about, ...(isLockout && { asked: 'yes' }), yes })
  }
  const answer = await link.api.updateDatabase({
    params: { uid },
    body,
    query: dryRun ? { dry_run: 'true' } : {},
  })
  const { action_uid: action } = answer
  const isBegun = action !== undefined && action !== before.action_uid && !dryRun
  if (isBegun && options.wait) {
    const { outcome } = await waitForEnd(context, action, `the change of ${name} failed`)
    if (outcome !== 'completed') throw new CommandFault('failed', `the change of ${name} was taken back`)
  }
  const row = isBegun && options.wait ? await link.api.getDatabase({ params: { uid } }) : answer
  const detail = await columnsWithRoles(context, link, before, row)
  const { form, columns } = context.answer
  if (dryRun && isForPeople(form) && columns === undefined)
    tellDifference(context.terminal, detail, { before, after: row })
  else printOne(context.terminal, { row, columns: detail, nameOf: (one) => one.name }, context.answer)
}

/** The fields of the request, without the roles. The server validates all words. */
async function fieldsIn(options: UpdateOptions): Promise<Body<typeof updateOperation>> {
  const { memory, name, port, tls, formerValid } = options
  const password = await readGivenPassword(options)
  return {
    ...(memory !== undefined && { memory_size: memory }),
    ...(name !== undefined && { name }),
    ...(port !== undefined && { port }),
    ...(tls !== undefined && { tls_mode: tls ? 'enabled' : 'disabled' }),
    ...(password !== undefined && { authentication_engine_pass: password }),
    ...(formerValid !== undefined && { former_valid_seconds: Math.round(formerValid) }),
    ...settingsIn(options),
    ...setFields(options.set),
  }
}

function sizeAfter({ memory }: UpdateOptions): readonly string[] {
  if (memory === undefined) return []
  return [`Its memory is ${memory === 0 ? 'without a limit' : showBytes(memory)} from then on.`]
}

/** Columns of what an update changes. */
const changing: readonly string[] = [
  ...['name', 'endpoint', 'memory', 'eviction', 'groups', 'persistence', 'saves', 'tls', 'former_access'],
  ...['default_user', 'roles'],
]

function tellDifference(
  terminal: Terminal,
  columns: readonly Column<Database>[],
  { before, after }: { readonly before: Database; readonly after: Database },
): void {
  const lines = columns.flatMap(({ name, value, shown }) => {
    if (!changing.includes(name)) return []
    const [old, wanted] = [before, after].map((row) => shown?.(row, terminal) ?? String(value(row) ?? ''))
    return old === wanted ? [] : [`${name}: ${old || 'none'} ${terminal.glyphs.arrow} ${wanted || 'none'}\n`]
  })
  terminal.out(lines.join(''))
  terminal.say(lines.length === 0 ? 'There is nothing to change.\n' : 'Nothing was changed.\n')
}
