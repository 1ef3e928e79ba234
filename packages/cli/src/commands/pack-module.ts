import { createHash } from 'node:crypto'
import { zipSync } from 'fflate'

/** The facts about a module that its shared object does not hold, so people name them. */
export interface ModuleFacts {
  /** As MODULE LIST says it. */
  readonly name: string
  /** major.minor.patch */
  readonly version: string
  readonly displayName?: string
  readonly args?: string
  readonly capabilities: readonly string[]
  readonly minEngineVersion?: string
  /** A list of {command, reply}; the server checks its shape. */
  readonly selfTest?: unknown
}

/** Makes the zip that an upload takes. The server says what is wrong with it, if anything is: nothing is checked here. */
export function packModule(file: Uint8Array, fileName: string, facts: ModuleFacts): Uint8Array {
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
  // The same input makes the same bytes: the time of packing says nothing about a module.
  return zipSync({ 'module.json': text, [fileName]: file }, { mtime: new Date(1980, 0, 1, 12) })
}
