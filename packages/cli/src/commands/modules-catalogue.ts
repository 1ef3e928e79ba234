import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { Module } from '@fairlead/api'
import type { CommonOptions, Context } from '../link/open-context.ts'
import type { Link } from '../link/open-link.ts'
import type { Yes } from '../output/ask.ts'
import { CommandFault } from '../output/command-fault.ts'
import { isForPeople } from '../output/forms.ts'
import { type Column, printList, printValue } from '../output/print-answer.ts'
import { showBytes, showTime } from '../output/show-quantity.ts'
import { guardChange, lookFirst } from './guard-change.ts'

/** Options of a change with a confirmation. */
export interface YesOption extends CommonOptions {
  readonly yes?: Yes
}

const columns: readonly Column<Module>[] = [
  { name: 'uid', value: ({ uid }) => uid },
  { name: 'name', value: ({ module_name }) => module_name },
  { name: 'version', value: ({ semantic_version }) => semantic_version },
  {
    name: 'size',
    value: ({ size_bytes }) => size_bytes,
    shown: ({ size_bytes }) => showBytes(size_bytes),
  },
  {
    name: 'uploaded',
    value: ({ uploaded_time }) => uploaded_time,
    shown: ({ uploaded_time }, terminal) => showTime(Date.parse(uploaded_time), terminal),
  },
  { name: 'capabilities', value: ({ capabilities }) => capabilities.join(' '), isWide: true },
  { name: 'sha256', value: ({ sha256 }) => sha256, isWide: true },
]

/** Prints the catalogue. */
export async function listModules({ terminal, answer, link }: Context): Promise<void> {
  const rows = await (await link()).api.listModules({})
  const empty = 'There is no module yet; fairlead modules pack and upload bring one'
  printList(terminal, { rows, columns, nameOf: ({ uid }) => uid, empty }, answer)
}

/** Adds a package to the catalogue. */
export async function uploadModule(context: Context, file: string, { yes }: YesOption): Promise<void> {
  await stat(resolve(file)) // before the request, so an error here is about the file
  const link = await context.link()
  await guardChange(context, link, { about: `${file} becomes a module of the catalogue.`, yes })
  const row = await link.api
    .uploadModule({ file: createReadStream(resolve(file)) })
    .catch(lookFirst('fairlead modules list'))
  print(context, row, `${row.module_name} ${row.semantic_version} is module ${row.uid}`)
}

/** Removes an unused module from the catalogue after a confirmation. */
export async function deleteModule(context: Context, word: string, { yes }: YesOption): Promise<void> {
  const link = await context.link()
  const module = await findModule(link, word)
  const name = `${module.module_name}@${module.semantic_version}`
  await guardChange(context, link, { about: `${name} leaves the catalogue.`, asked: 'yes', yes })
  await link.api.deleteModule({ params: { uid: module.uid } }).catch(lookFirst('fairlead modules list'))
  print(context, module, `module ${module.uid} is deleted`)
}

function print({ terminal, answer }: Context, row: Module, sentence: string): void {
  const { form } = answer
  if (isForPeople(form)) terminal.out(`${sentence}\n`)
  else terminal.out(form === 'name' ? `${row.uid}\n` : printValue(row, form, answer))
}

/** Finds a module by uid or NAME@VERSION. Throws CommandFault. */
async function findModule({ api }: Link, word: string): Promise<Module> {
  const all = await api.listModules({})
  const found = all.find(
    ({ uid, module_name, semantic_version }) => uid === word || `${module_name}@${semantic_version}` === word,
  )
  if (found !== undefined) return found
  throw new CommandFault('not_found', `module ${word} does not exist`, {
    code: 'module_not_exist',
    next: 'look what there is: fairlead modules list',
  })
}
