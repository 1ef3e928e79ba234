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
  readonly request: UpgradeRequest
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
  const link = await context.link()
  const planned: Planned[] = []
  for (const word of words) {
    const database = await findDatabase(link, word)
    const isNamedTwice = planned.some((each) => each.database.uid === database.uid)
    if (!isNamedTwice) planned.push(await planOne(context, link, database, options))
  }
  if (options.dryRun === true) return endDryRun(context, planned, options)
  const toDo = planned.filter(({ plan }) => plan.change)
  const isTable = isForPeople(context.answer.form)
  for (const { database } of planned.filter((each) => !toDo.includes(each)))
    if (isTable)
      context.terminal.out(`${database.name} runs ${buildOf(database)}: there is nothing to change.\n`)
  if (toDo.length === 0) return
  refuseHopeless(toDo)
  await ask(context, link, toDo, options)
  for (const [n, each] of toDo.entries()) {
    const isGood = await upgradeOne(context, link, each, options).catch((cause: unknown) =>
      goOn(context, cause, options.keepGoing === true && n < toDo.length - 1),
    )
    if (!isGood && options.keepGoing !== true) return
  }
}

function refuseHopeless(planned: readonly Planned[]): void {
  for (const { database, plan } of planned)
    if (plan.trial?.ok === false)
      throw new CommandFault(
        'refused',
        `${plan.engine} ${plan.engine_version} does not start as ${database.name} needs it, so nothing was sent: ${plan.trial?.why}`,
        { code: 'target_does_not_start' },
      )
}

async function planOne(
  { terminal, answer }: Context,
  link: Link,
  database: Database,
  options: UpgradeOptions,
): Promise<Planned> {
  const asked = upgradeRequest(options)
  const request = isOpen(options, asked) ? towardsBest(asked, database) : asked
  const params = { uid: database.uid }
  const { plan } = await link.api.upgradeDatabase({ params, query: { dry_run: 'true' }, body: request })
  if (plan === undefined) throw new CommandFault('failed', 'the server has no plan of an upgrade')
  if (answer.form === 'jsonl')
    terminal.out(`${asJson({ type: 'plan', bdb_uid: database.uid, name: database.name, plan })}\n`)
  const isNamed = asked.engine_version !== undefined || asked.keep_engine_version === true
  const choice =
    isNamed || !plan.change ? undefined : describeChoice(plan, await link.api.listUpgradeTargets({ params }))
  return { database, request, plan, choice }
}

/** Returns whether neither a build nor a rule for one is requested. */
function isOpen({ to, module: modules }: UpgradeOptions, asked: UpgradeRequest): boolean {
  const { engine_version, keep_engine_version, latest_with_modules } = asked
  const isFree = !(keep_engine_version ?? false) && !(latest_with_modules ?? false)
  return to === undefined && engine_version === undefined && modules.length === 0 && isFree
}

/** Requests the recommended build. If the server does not know it now, the server chooses. */
function towardsBest(asked: UpgradeRequest, { upgradable_to: best }: Database): UpgradeRequest {
  if (best === undefined) return asked
  if (best === null) return { ...asked, keep_engine_version: true }
  return { ...asked, engine_version: `${best.engine}-${best.engine_version}` }
}

function described({ database, request, plan, choice }: Planned, { glyphs }: Context['terminal']): string {
  const discards = discardsData(request)
  return describePlan({ name: database.name, from: buildOf(database), choice, discards }, plan, glyphs)
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
    const names = planned
      .filter(({ plan }) => plan.change && plan.possible)
      .map(({ database }) => database.name)
    const start = names.length === 0 ? '' : `Start it:  ${startCommand({ command, names }, process.argv)}\n`
    terminal.say(`Nothing was changed.\n${start}`)
  } else if (form === 'name') terminal.out(planned.map(({ database }) => `${database.name}\n`).join(''))
  else if (form !== 'jsonl')
    terminal.out(
      printValue(
        planned.map(({ plan }) => plan),
        form,
        answer,
      ),
    )
  if (planned.some(({ plan }) => !plan.possible)) process.exitCode = exitCodes.refused.code
  else if (options.exitCode === true && planned.some(({ plan }) => plan.change))
    process.exitCode = exitCodes.would_change.code
}

async function ask(
  context: Context,
  link: Link,
  planned: readonly Planned[],
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
  if (first !== undefined && discardsData(first.request)) {
    if (planned.length > 1)
      throw new CommandFault('usage', 'data may be discarded: name one database at a time; nothing was sent')
    await confirmByName(terminal, `${question} Its data may be discarded.`, first.database.name, yes)
  } else if (link.isProtected) await confirmByName(terminal, question, context.target().profile.value, yes)
  else await confirm(terminal, question, yes)
}

/** Returns false if it ended in another way than requested. */
async function upgradeOne(
  context: Context,
  link: Link,
  planned: Planned,
  options: UpgradeOptions,
): Promise<boolean> {
  const { terminal, answer } = context
  const { uid, name } = planned.database
  const begun = await begin(link, planned)
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
async function begin(link: Link, { database, request, plan }: Planned): Promise<string> {
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
