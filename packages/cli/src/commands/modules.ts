import { createReadStream } from 'node:fs'
import { readFile, stat, writeFile } from 'node:fs/promises'
import { basename, resolve } from 'node:path'
import { type Module, moduleCapabilities } from '@fairlead/api'
import { connectOperator } from '@fairlead/server'
import { type Command, InvalidArgumentError } from 'commander'
import { type ModuleFacts, packModule } from './pack-module.ts'
import { printTable } from './print-table.ts'
import { say } from './say.ts'

/**
 * Adds `modules pack`, which needs nothing but a file, and `modules upload`, `list` and `rm`, which speak to the server of
 * this machine through its socket in FAIRLEAD_HOME.
 */
export function addModulesCommands(program: Command, home: () => string): void {
  const modules = program.command('modules').description('the modules that databases can have')
  modules
    .command('pack')
    .description('make the package that an upload takes from a shared object')
    .argument('<file>', 'the .so')
    .requiredOption('--name <name>', 'what MODULE LIST calls it')
    .requiredOption('--version <version>', 'its version, like 1.2.0')
    .requiredOption('-o, --output <file>', 'the package to write')
    .option('--display-name <name>', 'what people call it')
    .option('--args <text>', 'its arguments where a database names none')
    .option('--capability <name>', 'what it supports; may be repeated', addCapability, [])
    .option('--min-engine-version <version>', 'the oldest engine that it runs in, like 7.2')
    .option('--self-test <file>', 'JSON: a list of {"command": ["NAME", …], "reply": …}')
    .action((file: string, options: PackOptions) => pack(file, options))
  modules
    .command('upload')
    .description('add a package to the catalogue')
    .argument('<file>', 'the package')
    .option('--json', 'print JSON')
    .action(async (file: string, options: JsonOption) => {
      await stat(resolve(file)) // before the server is asked, so an error here is about the file
      const module = await connectOperator(home()).uploadModule({ file: createReadStream(file) })
      print(module, options, `${module.module_name} ${module.semantic_version} is module ${module.uid}\n`)
    })
  modules
    .command('list')
    .description('list the catalogue')
    .option('--json', 'print JSON')
    .action(async (options: JsonOption) => {
      const all = await connectOperator(home()).listModules({})
      print(all, options, describe(all))
    })
  modules
    .command('rm')
    .description('take a module that no database uses out of the catalogue')
    .argument('<uid>', 'as listed')
    .action(async (uid: string) => {
      await connectOperator(home()).deleteModule({ params: { uid } })
      process.stdout.write(`module ${uid} is deleted\n`)
    })
}

interface JsonOption {
  readonly json?: boolean
}
interface PackOptions {
  readonly name: string
  readonly version: string
  readonly output: string
  readonly displayName?: string
  readonly args?: string
  readonly capability: readonly string[]
  readonly minEngineVersion?: string
  readonly selfTest?: string
}

async function pack(file: string, options: PackOptions): Promise<void> {
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

/** A misspelt name would not be a capability, and would be missing at the first upgrade. */
function addCapability(name: string, before: readonly string[]): readonly string[] {
  const names = moduleCapabilities.map((one): string => one.name)
  if (!names.includes(name)) throw new InvalidArgumentError(`there are ${names.join(', ')}`)
  return [...before, name]
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
