import type { Action, OrderName } from '@fairlead/api'
import { orderWords } from '@fairlead/api/lean'
import type { CommonOptions, Context } from '../link/open-context.ts'
import { confirm, confirmByName, type Yes } from '../output/ask.ts'
import { CommandFault } from '../output/command-fault.ts'
import { folded } from '../output/fold-text.ts'
import { isForPeople } from '../output/forms.ts'
import { printValue } from '../output/print-answer.ts'
import { type Found, findAction } from './actions.ts'
import { labelOf } from './describe-action.ts'
import { lookFirst } from './guard-change.ts'
import { describeHandover } from './upgrades/describe-handover.ts'
import { waitForEnd } from './upgrades/follow-action.ts'

/** The options of an order. */
export interface OrderOptions extends CommonOptions {
  readonly yes?: Yes
  /** Commander: `--no-wait` makes it false; undefined: the order has no wait. */
  readonly wait?: boolean
}

/** Reversible orders, which need no confirmation. */
const unasked: readonly OrderName[] = ['pause', 'resume']
/** Orders that end the action; the command waits for that end. */
const ending: readonly OrderName[] = ['cancel', 'rollback', 'finalize']

/** Gives an order to an action, or to the running one of a database, after showing its consequence. */
export async function giveOrder(
  context: Context,
  order: OrderName,
  word: string,
  { yes, wait }: OrderOptions,
): Promise<void> {
  const link = await context.link()
  const found = await findAction(link, word)
  const { action, name } = found
  const preview = action.orders[order]
  if (!preview.ok) throw refused(order, found)
  const profile = context.target().profile.value
  if (link.isProtected)
    await confirmByName(context.terminal, `${preview.consequence}\nOn ${link.place}.`, profile, yes)
  else if (!unasked.includes(order))
    await confirm(
      context.terminal,
      `${orderWords[order].label} ${name}: ${preview.consequence}\nOn ${link.place}.`,
      yes,
    )
  const given = await link.api[`${order}Action`]({ params: { uid: action.action_uid } }).catch(
    lookFirst(`fairlead actions show ${name}`, 'the order may have been taken'),
  )
  const isEnd = ending.includes(order) && wait !== false
  const after = isEnd
    ? await waitForEnd(context, given.action_uid, `${orderWords[order].label} of ${name}`)
    : given
  sayDone(context, order, name, { before: action, after })
  if (isEnd && preview.outcome !== null && after.outcome !== preview.outcome)
    throw new CommandFault('failed', `It ended otherwise than it was ordered: ${labelOf(after)}`)
}

function refused(order: OrderName, { action, name }: Found): CommandFault {
  const { error_code, why } = action.orders[order]
  return new CommandFault(error_code === 'forbidden' ? 'forbidden' : 'refused', why, {
    ...(error_code !== null && { code: error_code }),
    next: `look at it: fairlead actions show ${name}`,
  })
}

function sayDone(
  { terminal, answer }: Context,
  order: OrderName,
  name: string,
  { before, after }: { readonly before: Action; readonly after: Action },
): void {
  const { form } = answer
  if (!isForPeople(form)) {
    terminal.out(form === 'name' ? `${after.action_uid}\n` : printValue(after, form, answer))
    return
  }
  const moved = after.certificates.slice(before.certificates.length)
  for (const certificate of moved) terminal.out(folded(terminal, `${describeHandover(certificate)}\n`))
  if (order === 'resume' && after.outcome === null) {
    // The phase has not changed yet.
    terminal.out(`${name} goes on.\n`)
    terminal.say(watchIt(name))
    return
  }
  const runs = after.outcome === 'completed' ? after.goal : after.outcome === null ? null : after.from
  const served = runs === null ? '' : ` ${name} is served by ${runs.engine} ${runs.engine_version}.`
  terminal.out(`${labelOf(after)}.${served}\n`)
  if ((order === 'retry' || order === 'redo') && after.outcome === null) terminal.say(watchIt(name))
}

const watchIt = (name: string) => `Watch it: fairlead actions watch ${name}\n`
