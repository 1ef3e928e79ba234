import type { Database } from '@fairlead/api'
import type { Context } from '../../link/open-context.ts'
import type { Link } from '../../link/open-link.ts'
import { confirm, confirmByName } from '../../output/ask.ts'
import { CommandFault } from '../../output/command-fault.ts'
import { exitCodes } from '../../output/exit-codes.ts'
import { folded } from '../../output/fold-text.ts'
import { isForPeople } from '../../output/forms.ts'
import { printValue } from '../../output/print-answer.ts'
import { faultTextOf, printError } from '../../output/print-error.ts'
import { asJson } from '../../output/without-orders.ts'
import { buildOf } from '../describe-database.ts'
import { findDatabase } from '../find-database.ts'
import { describeChoice } from './describe-choice.ts'
import { describePlan, type UpgradePlan } from './describe-plan.ts'
import { startCommand } from './start-command.ts'
import { discardsData, type UpgradeOptions, type UpgradeRequest, upgradeRequest } from './upgrade-request.ts'
import { printEnd, watchAction } from './watch-action.ts'

interface Planned {
  readonly database: Database
  readonly plan: UpgradePlan
  /** Explains the target; undefined: the request named it. */
  readonly choice: string | undefined
}

/** Plans the upgrade of each database, asks once, and upgrades them in turn up to `--wait`. */
export async function upgradeDatabases(
  context: Context,
  words: readonly string[],
  options: UpgradeOptions,
): Promise<void> {
  const request = upgradeRequest(options)
  const link = await context.link()
  const planned: Planned[] = []
  for (const word of words) {
    const database = await findDatabase(link, word)
    const isNamedTwice = planned.some((each) => each.database.uid === database.uid)
    if (!isNamedTwice) planned.push(await planOne(context, link, database, request))
  }
  if (options.dryRun === true) return endDryRun(context, planned, options)
  const toDo = planned.filter(({ plan }) => plan.change)
  const isTable = isForPeople(context.answer.form)
  for (const { database } of planned.filter((each) => !toDo.includes(each)))
    if (isTable)
      context.terminal.out(`${database.name} runs ${buildOf(database)}: there is nothing to change.\n`)
  if (toDo.length === 0) return
  await ask(context, link, toDo, request, options)
  for (const [n, each] of toDo.entries()) {
    const isGood = await upgradeOne(context, link, each, request, options).catch((cause: unknown) =>
      goOn(context, cause, options.keepGoing === true && n < toDo.length - 1),
    )
    if (!isGood && options.keepGoing !== true) return
  }
}

async function planOne(
  { terminal, answer }: Context,
  link: Link,
  database: Database,
  request: UpgradeRequest,
): Promise<Planned> {
  const { plan } = await link.api.upgradeDatabase({
    params: { uid: database.uid },
    query: { dry_run: 'true' },
    body: request,
  })
  if (plan === undefined) throw new CommandFault('failed', 'the server has no plan of an upgrade')
  if (answer.form === 'jsonl')
    terminal.out(`${asJson({ type: 'plan', bdb_uid: database.uid, name: database.name, plan })}\n`)
  return { database, plan, choice: await choiceOf(link, database.uid, plan, request) }
}

/** Explains a target that the server chose. */
async function choiceOf(
  link: Link,
  uid: number,
  plan: UpgradePlan,
  { engine_version, keep_engine_version }: UpgradeRequest,
): Promise<string | undefined> {
  if (engine_version !== undefined || keep_engine_version === true || !plan.change) return undefined
  return describeChoice(plan, await link.api.listUpgradeTargets({ params: { uid } }))
}

function described({ database, plan, choice }: Planned, { glyphs }: Context['terminal']): string {
  return describePlan({ name: database.name, from: buildOf(database), choice }, plan, glyphs)
}

function endDryRun(
  { terminal, answer }: Context,
  planned: readonly Planned[],
  options: UpgradeOptions,
): void {
  const { form } = answer
  if (isForPeople(form)) {
    for (const each of planned) terminal.out(folded(terminal, described(each, terminal)))
    const { command } = options
    terminal.say(
      `Nothing was changed.\nStart it:  ${startCommand({ command, names: planned.map(({ database }) => database.name) }, process.argv)}\n`,
    )
  } else if (form === 'name') terminal.out(planned.map(({ database }) => `${database.name}\n`).join(''))
  else if (form !== 'jsonl')
    terminal.out(
      printValue(
        planned.map(({ plan }) => plan),
        form,
        answer,
      ),
    )
  if (options.exitCode === true && planned.some(({ plan }) => plan.change))
    process.exitCode = exitCodes.would_change.code
}

async function ask(
  context: Context,
  link: Link,
  planned: readonly Planned[],
  request: UpgradeRequest,
  { yes }: UpgradeOptions,
): Promise<void> {
  const { terminal, answer } = context
  const names = planned.map(({ database }) => database.name).join(', ')
  const isAsked = terminal.interactive && yes === undefined
  if (isAsked) terminal.say(folded(terminal, planned.map((each) => described(each, terminal)).join('')))
  else if (isForPeople(answer.form))
    for (const { database, choice } of planned)
      if (choice !== undefined) terminal.say(folded(terminal, `${database.name}: ${choice}\n`))
  const question = `Upgrade ${names} on ${link.place}?`
  const [first] = planned
  if (discardsData(request)) {
    if (first === undefined || planned.length > 1)
      throw new CommandFault('usage', 'data may be discarded: name one database at a time; nothing was sent')
    await confirmByName(terminal, `${question} Its data may be discarded.`, first.database.name, yes)
  } else if (link.isProtected) await confirmByName(terminal, question, context.target().profile.value, yes)
  else await confirm(terminal, question, yes)
}

/** Returns false if it ended in another way than requested. */
async function upgradeOne(
  context: Context,
  link: Link,
  { database, plan }: Pick<Planned, 'database' | 'plan'>,
  request: UpgradeRequest,
  options: UpgradeOptions,
): Promise<boolean> {
  const { terminal, answer } = context
  const { uid, name } = database
  const begun = await begin(link, { database, plan }, request)
  const { wait } = options
  if (wait === false) {
    if (answer.form === 'jsonl')
      terminal.out(`${asJson({ type: 'begun', bdb_uid: uid, action_uid: begun })}\n`)
    else if (answer.form === 'json')
      terminal.out(printValue({ bdb_uid: uid, action_uid: begun }, 'json', answer))
    else terminal.out(`${begun}\n`)
    return true
  }
  const watched = { link, uid: begun, name }
  const action = await watchAction(context, watched, { wait, waitTimeout: options.waitTimeout })
  printEnd(context, name, action)
  return action.outcome === null || action.outcome === 'completed'
}

/** Begins only while the plan is the shown one. After a lost answer, checks whether the upgrade has begun. */
async function begin(
  link: Link,
  { database, plan }: Pick<Planned, 'database' | 'plan'>,
  request: UpgradeRequest,
): Promise<string> {
  const { uid, name } = database
  const lost = (cause: unknown) =>
    faultTextOf(cause).exit === 'unreached'
      ? link.api.getDatabase({ params: { uid } }).then(({ action_uid }) => {
          if (action_uid === undefined) throw cause
          return { action_uid }
        })
      : Promise.reject(cause)
  const { action_uid } = await link.api
    .upgradeDatabase({ params: { uid }, body: request, basis: plan.basis })
    .catch(lost)
  if (action_uid === undefined) throw new CommandFault('failed', `the upgrade of ${name} has no action`)
  return action_uid
}

/** With `--keep-going`, prints a failure immediately, and counts it at the end. */
function goOn({ answer }: Context, cause: unknown, isMore: boolean): boolean {
  const { exit } = faultTextOf(cause)
  if (!isMore || exit === 'interrupted' || exit === 'terminated') throw cause
  const isTerminal = process.stderr.isTTY === true
  process.exitCode = printError(cause, {
    asJson: answer.form === 'json' || answer.form === 'jsonl',
    isTerminal,
  })
  return false
}
