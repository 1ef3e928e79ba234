import type { Acl } from '@fairlead/api'
import type { CommonOptions, Context } from '../../link/open-context.ts'
import type { Link } from '../../link/open-link.ts'
import type { Yes } from '../../output/ask.ts'
import { CommandFault } from '../../output/command-fault.ts'
import { isForPeople } from '../../output/forms.ts'
import { type Column, printList, printOne } from '../../output/print-answer.ts'
import { guardChange, lookFirst } from '../guard-change.ts'

const columns: readonly Column<Acl>[] = [
  { name: 'uid', value: ({ uid }) => uid, narrow: 'whole' },
  { name: 'name', value: ({ name }) => name },
  { name: 'rule', value: ({ acl }) => acl },
]
const nameOf = ({ name }: Acl) => name
const lookThere = lookFirst('fairlead acls list')

/** Prints the rules for users of databases. */
export async function listAcls({ terminal, answer, link }: Context): Promise<void> {
  const rows = await (await link()).api.listEngineAcls({})
  printList(terminal, { rows, columns, nameOf }, answer)
}

/** Prints one rule. */
export async function showAcl({ terminal, answer, link }: Context, word: string): Promise<void> {
  printOne(terminal, { row: await findAcl(await link(), word), columns, nameOf }, answer)
}

/** The options of changes to a rule. */
export interface AclOptions extends CommonOptions {
  readonly name?: string
  readonly rule?: string
  readonly dryRun?: boolean
  readonly yes?: Yes
}

/** Creates a rule. With `dryRun`, the server only checks it. */
export async function createAcl(context: Context, name: string, options: AclOptions): Promise<void> {
  const { rule = '', dryRun, yes } = options
  const link = await context.link()
  if (dryRun !== true) await guardChange(context, link, { about: `Rule ${name} is created.`, yes })
  const request = { body: { name, acl: rule }, query: queryOf(options) }
  const row = await link.api.createEngineAcl(request).catch(lookThere)
  printChanged(context, row, options)
}

/** Changes the given fields of a rule, which is then in force at all its databases. */
export async function updateAcl(context: Context, word: string, options: AclOptions): Promise<void> {
  const { name, rule, dryRun, yes } = options
  const body = { ...(name !== undefined && { name }), ...(rule !== undefined && { acl: rule }) }
  if (Object.keys(body).length === 0)
    throw new CommandFault('usage', 'nothing was named that is to change; nothing was sent')
  const link = await context.link()
  const before = await findAcl(link, word)
  const about = `Rule ${before.name} is changed, at once for all users who sign in under it.`
  if (dryRun !== true)
    await guardChange(context, link, { about, ...(rule !== undefined && { asked: 'yes' }), yes })
  const request = { params: { uid: before.uid }, body, query: queryOf(options) }
  const row = await link.api.updateEngineAcl(request).catch(lookThere)
  printChanged(context, row, options)
}

/** Deletes an unused rule after its name was typed. */
export async function deleteAcl(context: Context, word: string, options: AclOptions): Promise<void> {
  const link = await context.link()
  const row = await findAcl(link, word)
  const { uid, name } = row
  if (options.dryRun !== true)
    await guardChange(context, link, {
      about: `Rule ${name} is deleted.`,
      asked: { name },
      yes: options.yes,
    })
  await link.api.deleteEngineAcl({ params: { uid }, query: queryOf(options) }).catch(lookThere)
  printChanged(context, row, options)
}

/** Lets the server and its running engines check a rule. */
export async function checkAcl(context: Context, { rule = '' }: AclOptions): Promise<void> {
  const link = await context.link()
  const row = await link.api.validateEngineAcl({ body: { acl: rule } })
  const shown = [{ name: 'rule', value: () => row.acl }]
  printOne(context.terminal, { row, columns: shown, nameOf: () => row.acl }, context.answer)
}

function queryOf({ dryRun }: AclOptions): { readonly dry_run?: 'true' } {
  return dryRun === true ? { dry_run: 'true' } : {}
}

function printChanged({ terminal, answer }: Context, row: Acl, { dryRun }: AclOptions): void {
  printOne(terminal, { row, columns, nameOf }, answer)
  if (dryRun === true && isForPeople(answer.form)) terminal.say('Nothing was changed.\n')
}

/** Finds a rule by name or uid. Throws CommandFault. */
async function findAcl({ api }: Link, word: string): Promise<Acl> {
  return pickAcl(await api.listEngineAcls({}), word)
}

/** The rule of this name, or else of this uid. Throws CommandFault. */
export function pickAcl(all: readonly Acl[], word: string): Acl {
  const found = all.find(({ name }) => name === word) ?? all.find(({ uid }) => String(uid) === word)
  if (found !== undefined) return found
  throw new CommandFault('not_found', `there is no rule ${word}`, {
    code: 'acl_not_exist',
    next: 'look what there is: fairlead acls list',
  })
}
