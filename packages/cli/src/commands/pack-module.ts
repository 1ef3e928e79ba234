import { createHash } from 'node:crypto'
import { zipSync } from 'fflate'

/** Facts about a module that its shared object lacks. */
export interface ModuleFacts {
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
  // A constant time, so that the same input makes the same bytes.
  return zipSync({ 'module.json': text, [fileName]: file }, { mtime: new Date(1980, 0, 1, 12) })
}
