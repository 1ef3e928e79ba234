import { createReadStream } from 'node:fs'
import { readFile, stat, writeFile } from 'node:fs/promises'
import { basename, resolve } from 'node:path'
import { type Module, moduleCapabilities } from '@fairlead/api'
import { connectOperator } from '@fairlead/server'
import { type ModuleFacts, packModule } from './pack-module.ts'
import { printTable } from './print-table.ts'
import { say } from './say.ts'

/** Adds a package to the catalogue of the server of this home. */
export async function uploadModule(home: string, file: string, options: JsonOption): Promise<void> {
  await stat(resolve(file)) // before the server is asked, so an error here is about the file
  const module = await connectOperator(home).uploadModule({ file: createReadStream(file) })
  print(module, options, `${module.module_name} ${module.semantic_version} is module ${module.uid}\n`)
}

/** Prints the catalogue. */
export async function listModules(home: string, options: JsonOption): Promise<void> {
  const all = await connectOperator(home).listModules({})
  print(all, options, describe(all))
}

/** Takes a module that no database uses out of the catalogue. */
export async function deleteModule(home: string, uid: string): Promise<void> {
  await connectOperator(home).deleteModule({ params: { uid } })
  process.stdout.write(`module ${uid} is deleted\n`)
}

/** The option `--json`. */
export interface JsonOption {
  readonly json?: boolean
}
/** The options of `modules pack`. */
export interface PackOptions {
  readonly name: string
  readonly version: string
  readonly output: string
  readonly displayName?: string
  readonly args?: string
  readonly capability: readonly string[]
  readonly minEngineVersion?: string
  readonly selfTest?: string
}

/** Writes the package of a shared object. */
export async function packFile(file: string, options: PackOptions): Promise<void> {
  const { output, selfTest, capability, ...rest } = options
  const facts: ModuleFacts = {
    ...rest,
    capabilities: capability,
    ...(selfTest !== undefined && { selfTest: await readJson(selfTest) }),
  }
  // With its folder: npm runs this in that of the checkout.
  const bytes = packModule(await readFile(resolve(file)), basename(file), facts)
  await writeFile(output, bytes)
  process.stdout.write(`${output} has ${options.name} ${options.version}, ${bytes.byteLength} bytes\n`)
}

async function readJson(file: string): Promise<unknown> {
  const text = await readFile(resolve(file), 'utf8')
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new Error(`${file} is not JSON: ${cause instanceof Error ? cause.message : String(cause)}`, {
      cause,
    })
  }
}

/** The sentence about a name that is no capability; undefined if all are. A misspelt one would be missing at the first upgrade. */
export function unknownCapability(given: readonly string[]): string | undefined {
  const names = moduleCapabilities.map((one): string => one.name)
  const wrong = given.find((name) => !names.includes(name))
  return wrong === undefined ? undefined : `there is no ${wrong}; there are ${names.join(', ')}`
}

function print(value: unknown, { json }: JsonOption, text: string): void {
  say(json === true ? `${JSON.stringify(value, null, 2)}\n` : text)
}

function describe(modules: readonly Module[]): string {
  if (modules.length === 0) return 'There is no module yet; fairlead modules pack and upload bring one\n'
  return printTable(
    ['UID', 'NAME', 'VERSION', 'SIZE', 'UPLOADED'],
    modules.map(({ uid, module_name, semantic_version, size_bytes, uploaded_time }) => [
      ...[uid, module_name, semantic_version, String(size_bytes), uploaded_time],
    ]),
  )
}
