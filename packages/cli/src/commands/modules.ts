import { createHash } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { basename, resolve } from 'node:path'
import { moduleCapabilities } from '@fairlead/api'
import { zipSync } from 'fflate'

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
  // With its folder, because npm runs this in the checkout's folder.
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

/** A sentence about an unknown capability, or undefined. A misspelt one would break the first upgrade. */
export function unknownCapability(given: readonly string[]): string | undefined {
  const names = moduleCapabilities.map((one): string => one.name)
  const wrong = given.find((name) => !names.includes(name))
  return wrong === undefined ? undefined : `there is no ${wrong}; there are ${names.join(', ')}`
}

/** Facts about a module that its shared object lacks. */
interface ModuleFacts {
  /** Name in MODULE LIST. */
  readonly name: string
  /** major.minor.patch */
  readonly version: string
  readonly displayName?: string
  readonly args?: string
  readonly capabilities: readonly string[]
  readonly minEngineVersion?: string
  /** A list of {command, reply}, which the server validates. */
  readonly selfTest?: unknown
}

/** Makes the zip for an upload. The server validates it. */
function packModule(file: Uint8Array, fileName: string, facts: ModuleFacts): Uint8Array {
  const { name, version, displayName, args, capabilities, minEngineVersion, selfTest } = facts
  const manifest = {
    module_name: name,
    display_name: displayName ?? name,
    semantic_version: version,
    capabilities,
    command_line_args: args ?? '',
    ...(minEngineVersion !== undefined && { min_engine_version: minEngineVersion }),
    ...(selfTest !== undefined && { self_test: selfTest }),
    module_file: fileName,
    sha256: createHash('sha256').update(file).digest('hex'),
  }
  const text = new TextEncoder().encode(`${JSON.stringify(manifest, null, 2)}\n`)
  // A constant time, so that the same input makes the same bytes.
  return zipSync({ 'module.json': text, [fileName]: file }, { mtime: new Date(1980, 0, 1, 12) })
}
