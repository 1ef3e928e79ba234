import type { Body, updateDatabase as updateOperation } from '@fairlead/api'
import type { CommonOptions, Context } from '../link/open-context.ts'
import type { Yes } from '../output/ask.ts'
import { CommandFault } from '../output/command-fault.ts'
import { printOne } from '../output/print-answer.ts'
import { showBytes } from '../output/show-quantity.ts'
import { setFields } from './create-database.ts'
import { detailColumns } from './describe-database.ts'
import { findDatabase } from './find-database.ts'
import { guardChange } from './guard-change.ts'

/** The options of `databases update`. */
export interface UpdateOptions extends CommonOptions {
  readonly memory?: number
  readonly eviction?: string
  readonly set: readonly string[]
  readonly dryRun?: boolean
  readonly yes?: Yes
}

/** Changes memory and eviction of a database without a restart. With `dryRun`, only prints the result. */
export async function updateDatabase(context: Context, word: string, options: UpdateOptions): Promise<void> {
  const { memory, eviction, dryRun = false, yes } = options
  const body = {
    ...(memory !== undefined && { memory_size: memory }),
    ...(eviction !== undefined && { eviction_policy: eviction }),
    ...setFields(options.set),
  } as Body<typeof updateOperation> // the server validates all words
  if (Object.keys(body).length === 0)
    throw new CommandFault('usage', 'nothing was named that is to change; nothing was sent')
  const link = await context.link()
  const { uid, name } = await findDatabase(link, word)
  if (!dryRun) {
    const size =
      memory === undefined
        ? ''
        : ` Its memory is ${memory === 0 ? 'without a limit' : showBytes(memory)} from then on.`
    await guardChange(context, link, { about: `Database ${name} is changed while it serves.${size}`, yes })
  }
  const row = await link.api.updateDatabase({
    params: { uid },
    body,
    query: dryRun ? { dry_run: 'true' } : {},
  })
  printOne(
    context.terminal,
    { row, columns: detailColumns, nameOf: (database) => database.name },
    context.answer,
  )
}
