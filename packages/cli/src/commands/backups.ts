import { setTimeout as pause } from 'node:timers/promises'
import type { Backup } from '@fairlead/api'
import { ApiError } from '@fairlead/api/lean'
import { listenForStop } from '../link/listen-for-stop.ts'
import type { CommonOptions, Context } from '../link/open-context.ts'
import type { Link } from '../link/open-link.ts'
import { CommandFault } from '../output/command-fault.ts'
import { isForPeople } from '../output/forms.ts'
import { openLiveBlock } from '../output/live-block.ts'
import { type Column, printList, printOne } from '../output/print-answer.ts'
import { showBytes, showTime } from '../output/show-quantity.ts'
import { findDatabase } from './find-database.ts'
import { guardChange, lookFirst } from './guard-change.ts'
import type { YesOption } from './modules-catalogue.ts'
import { isAway } from './upgrades/follow-action.ts'

const LOOK_EVERY_MS = 500
const LOOK = 'fairlead backups list'

const columns: readonly Column<Backup>[] = [
  { name: 'name', value: ({ name }) => name, narrow: 'whole' },
  { name: 'database', value: ({ bdb_name }) => bdb_name, narrow: 'spare' },
  {
    name: 'status',
    value: ({ status }) => status,
    style: ({ status }) => (status === 'done' ? 'good' : status === 'failed' ? 'bad' : undefined),
  },
  { name: 'engine', value: ({ engine, engine_version }) => `${engine} ${engine_version}` },
  { name: 'shards', value: ({ shards_count }) => shards_count, narrow: 'spare' },
  { name: 'size', value: ({ bytes }) => bytes, shown: ({ bytes }) => showBytes(bytes) },
  { name: 'keys', value: ({ keys }) => keys },
  {
    name: 'proved',
    value: ({ proved_time }) => proved_time,
    shown: ({ proved_time }, terminal) =>
      proved_time === null ? '' : showTime(Date.parse(proved_time), terminal),
  },
  { name: 'created', value: ({ created_time }) => created_time, isWide: true },
  { name: 'reason', value: ({ status_reason }) => status_reason, isWide: true },
]
const nameOf = ({ name }: Backup) => name

/** Prints the backups that the user may see. */
export async function listBackups(
  context: Context,
  { database }: CommonOptions & { readonly database?: string },
): Promise<void> {
  const { api } = await context.link()
  const all = await api.listBackups({ query: {} })
  // A database that is gone has no uid to be found by.
  const rows = all.filter(
    ({ bdb_name, bdb_uid }) => database === undefined || [bdb_name, String(bdb_uid)].includes(database),
  )
  const empty = 'There is no backup yet: fairlead databases backup DATABASE'
  printList(context.terminal, { rows, columns, nameOf, empty }, context.answer)
}

/** Backs up a database, and waits for the proof of the backup. */
export async function backUpDatabase(
  context: Context,
  word: string,
  { wait }: CommonOptions & { readonly wait: boolean },
): Promise<void> {
  const link = await context.link()
  const { uid, name: database } = await findDatabase(link, word)
  await guardChange(context, link, { about: `Backs up ${database}, which serves meanwhile.` })
  const begun = await link.api
    .backUpDatabase({ params: { uid } })
    .catch(lookFirst(LOOK, 'a backup may have been begun'))
  const row = wait ? await follow(context, link, begun) : begun
  if (row.status === 'failed')
    throw new CommandFault('failed', `${database} is not backed up: ${row.status_reason}`)
  printOne(context.terminal, { row, columns, nameOf }, context.answer)
  if (row.status === 'done' && isForPeople(context.answer.form) && context.terminal.outIsTerminal)
    context.terminal.say(
      `Proved: ${row.engine} ${row.engine_version} has loaded it, and ${row.keys} keys were counted.\nRestore it: fairlead databases create NAME --from-backup ${row.name}\n`,
    )
}

/** Polls until it has ended. Ctrl-C ends only the wait. */
async function follow(context: Context, { api }: Link, begun: Backup): Promise<Backup> {
  using stop = listenForStop({ gone: context.terminal.gone })
  using block = context.terminal.progress === 'draw' ? openLiveBlock(context.terminal) : undefined
  let seen = begun
  try {
    while (seen.status === 'running') {
      block?.show([{ text: `${seen.name}: ${showBytes(seen.bytes)}` }])
      await pause(LOOK_EVERY_MS, undefined, { signal: stop.signal })
      seen = await api.getBackup({ params: { name: seen.name } }, { signal: stop.signal }).catch((cause) => {
        // A restart of the server ends no backup.
        if (stop.signal.aborted || !isAway(cause)) throw cause
        return seen
      })
    }
    return seen
  } catch (cause) {
    const why = stop.why()
    if (why === 'interrupted' || why === 'terminated')
      throw new CommandFault(why, `It goes on without you (backup ${begun.name}).`, {
        next: `look again: ${LOOK}`,
      })
    if (cause instanceof ApiError && cause.code === 'backup_not_exist')
      throw new CommandFault('failed', `backup ${begun.name} was deleted while it was being made`)
    throw cause
  }
}

/** Deletes a backup after a confirmation; one that is running is ended. */
export async function deleteBackup(context: Context, name: string, { yes }: YesOption): Promise<void> {
  const link = await context.link()
  const row = await link.api.getBackup({ params: { name } })
  const about = `Deletes backup ${name} of ${row.bdb_name}, ${showBytes(row.bytes)}.`
  await guardChange(context, link, { about, asked: 'yes', yes })
  await link.api.deleteBackup({ params: { name } }).catch(lookFirst(LOOK))
  if (isForPeople(context.answer.form)) context.terminal.out(`backup ${name} is deleted\n`)
  else printOne(context.terminal, { row, columns, nameOf }, context.answer)
}
