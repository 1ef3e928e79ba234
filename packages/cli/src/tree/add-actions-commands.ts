import { type Command, Option } from 'commander'
import type { OrderOptions } from '../commands/give-order.ts'
import { readWhole } from '../output/read-quantity.ts'
import { progress, waitChoices, waitTimeout } from './add-upgrade-command.ts'
import type { Settings } from './client-command.ts'
import { acting, addClientCommand, addWatchable } from './client-command.ts'

const load = () => import('../commands/actions.ts')
const WORD = 'its uid, or the database that it runs on'

/** The orders. Those with a confirmation take `--yes`; those that end the action wait for its end. */
const orders = [
  { name: 'pause', about: 'begin nothing new in an upgrade', isAsked: false, ends: false },
  {
    name: 'resume',
    about: 'continue after a pause, or after the stop of a supervised upgrade',
    isAsked: false,
    ends: false,
  },
  { name: 'cancel', about: 'take an upgrade back', isAsked: true, ends: true },
  {
    name: 'rollback',
    about: 'hand the roles back to the old primaries, without loss',
    isAsked: true,
    ends: true,
  },
  { name: 'finalize', about: 'give up the way back', isAsked: true, ends: true },
  { name: 'redo', about: 'continue an upgrade that is being taken back', isAsked: true, ends: false },
  {
    name: 'retry',
    about: 'try the blocked step immediately; for a failed upgrade: begin it again',
    isAsked: true,
    ends: false,
  },
] as const

/** Adds `actions …`. */
export function addActionsCommands(program: Command, settings: Settings): void {
  const actions = program.command('actions').alias('action').description('creations, upgrades, deletions')
  const list = addClientCommand(actions, 'list', 'list the actions, the newest first')
    .addOption(
      new Option('--status <status>', 'those with this status').choices([
        'pending',
        'active',
        'completed',
        'failed',
      ]),
    )
    .option('--database <database>', 'those of one database')
    .option('--limit <n>', 'maximum number', (text) => readWhole('--limit', text))
  addWatchable(list, settings, async () => (await load()).listActions)
  addClientCommand(actions, 'show', 'show an action: how far it is, what it waits for, its certificates')
    .argument('<action>', WORD)
    .action(acting(settings, async () => (await load()).showAction))
  addWatch(actions, settings)
  for (const order of orders) addOrder(actions, order, { settings, argument: ['<action>', WORD] })
}

/** Adds rollback and finalize to `databases …`, too, for the running action of a database. */
export function addDatabaseOrders(databases: Command, settings: Settings): void {
  for (const order of orders.filter(({ name }) => name === 'rollback' || name === 'finalize'))
    addOrder(databases, order, { settings, argument: ['<database>', 'its name, or its uid'] })
}

function addOrder(
  parent: Command,
  { name, about, isAsked, ends }: (typeof orders)[number],
  { settings, argument }: { readonly settings: Settings; readonly argument: readonly [string, string] },
): void {
  const command = addClientCommand(parent, name, about)
    .argument(...argument)
    .option('--yes [profile]', isAsked ? 'do not ask' : 'of a protected profile: its name, to be not asked')
  if (ends) command.option('--no-wait', 'do not wait for its end')
  command.action(
    acting(settings, async () => {
      const { giveOrder } = await import('../commands/give-order.ts')
      return (context, word: string, options: OrderOptions) => giveOrder(context, name, word, options)
    }),
  )
}

function addWatch(actions: Command, settings: Settings): void {
  addClientCommand(actions, 'watch', 'follow an action; Ctrl-C ends the watching, not the action')
    .argument('<action>', WORD)
    .addOption(
      new Option(
        '--wait <until>',
        'ready: stop before the first handover; served: new build serves; finalized: window over',
      )
        .choices([...waitChoices])
        .default('served'),
    )
    .addOption(waitTimeout())
    .addOption(progress())
    .action(acting(settings, async () => (await import('../commands/upgrades/watch-action.ts')).watchOne))
}
