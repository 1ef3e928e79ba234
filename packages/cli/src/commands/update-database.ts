import type { Body, Database, updateDatabase as updateOperation } from '@fairlead/api'
import type { CommonOptions, Context } from '../link/open-context.ts'
import type { Yes } from '../output/ask.ts'
import { CommandFault } from '../output/command-fault.ts'
import { isForPeople } from '../output/forms.ts'
import { printOne } from '../output/print-answer.ts'
import { showBytes } from '../output/show-quantity.ts'
import type { Terminal } from '../output/terminal.ts'
import { type SettingsOptions, setFields, settingsIn } from './create-database.ts'
import { describeCopies, detailColumns } from './describe-database.ts'
import { findDatabase } from './find-database.ts'
import { guardChange } from './guard-change.ts'
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
  readonly dryRun?: boolean
  readonly yes?: Yes
}

/** Changes a database while it serves, and waits for its action. With `dryRun`, only prints the result. */
export async function updateDatabase(context: Context, word: string, options: UpdateOptions): Promise<void> {
  const { memory, name: other, port, tls, formerValid, dryRun = false, yes } = options
  const password = await readGivenPassword(options)
  const body = {
    ...(memory !== undefined && { memory_size: memory }),
    ...(other !== undefined && { name: other }),
    ...(port !== undefined && { port }),
    ...(tls !== undefined && { tls_mode: tls ? 'enabled' : 'disabled' }),
    ...(password !== undefined && { authentication_engine_pass: password }),
    ...(formerValid !== undefined && { former_valid_seconds: Math.round(formerValid) }),
    ...settingsIn(options),
    ...setFields(options.set),
  } as Body<typeof updateOperation> // the server validates all words
  if (Object.keys(body).length === 0)
    throw new CommandFault('usage', 'nothing was named that is to change; nothing was sent')
  const link = await context.link()
  const before = await findDatabase(link, word)
  const { uid, name } = before
  if (!dryRun) {
    const size =
      memory === undefined
        ? ''
        : ` Its memory is ${memory === 0 ? 'without a limit' : showBytes(memory)} from then on.`
    const about = `Database ${name} is changed while it serves.${size}${copiesAfter({ ...before, ...body })}`
    await guardChange(context, link, { about, yes })
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
  const { form, columns } = context.answer
  if (dryRun && isForPeople(form) && columns === undefined) tellDifference(context.terminal, before, row)
  else
    printOne(
      context.terminal,
      { row, columns: detailColumns, nameOf: (database) => database.name },
      context.answer,
    )
}

function copiesAfter(wanted: Database): string {
  return ` From then on: ${describeCopies(wanted)}.`
}

/** Columns of what an update changes. */
const changing: readonly string[] = [
  ...['name', 'endpoint', 'memory', 'eviction', 'groups', 'persistence', 'saves', 'tls', 'former_access'],
]

function tellDifference(terminal: Terminal, before: Database, after: Database): void {
  const lines = detailColumns.flatMap(({ name, value, shown }) => {
    if (!changing.includes(name)) return []
    const [old, wanted] = [before, after].map((row) => shown?.(row, terminal) ?? String(value(row) ?? ''))
    return old === wanted ? [] : [`${name}: ${old} ${terminal.glyphs.arrow} ${wanted}\n`]
  })
  terminal.out(lines.join(''))
  terminal.say(lines.length === 0 ? 'There is nothing to change.\n' : 'Nothing was changed.\n')
}
