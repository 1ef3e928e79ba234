import { createHash } from 'node:crypto'
import { open } from 'node:fs/promises'
import { type Pieces, Refusal } from '@fairlead/api'
import { messageOf } from '@fairlead/engine'
import type { ModuleManifest } from '../../core/modules/module.ts'
import { readManifest } from '../../core/modules/module-package.ts'
import { entryPoints, faultOfSharedObject, HEADER_BYTES } from '../../core/modules/shared-object.ts'
import { toRefusal } from '../refusals/to-refusal.ts'
import { openPackage, type PackageLimits } from './open-package.ts'

/** The content of a package. */
export interface Unpacked {
  readonly manifest: ModuleManifest
  readonly sha256: string
  readonly sizeBytes: number
}

const MOST_JSON_BYTES = 1024 * 1024

/**
 * Reads the package at `path`, and unpacks its shared object durably to `modulePath`. Throws Refusal
 * invalid_module, os_not_supported or dependencies_not_supported. `architecture` of the nodes: `x64`,
 * `arm64`.
 */
export function readPackage(
  path: string,
  modulePath: string,
  { architecture, ...limits }: PackageLimits & { readonly architecture: string },
): Promise<Unpacked> {
  return openPackage(path, limits, async (opened) => {
    if (!opened.has('module.json'))
      throw refuse('has no module.json at its root; fairlead modules pack makes one')
    const found = readManifest(await readJson(opened.read('module.json')), architecture)
    if ('refused' in found) throw toRefusal(found)
    const { manifest, sha256: said } = found
    const { moduleFile } = manifest
    if (!opened.has(moduleFile))
      throw refuse(`has no file ${moduleFile}, which module.json names as module_file`)
    const { header, hasEntryPoint, ...file } = await unpack(opened.read(moduleFile), modulePath)
    const fault = faultOfSharedObject(header, architecture)
    if (fault !== undefined) throw refuse(`has a file ${moduleFile} that ${fault}`)
    if (!hasEntryPoint)
      throw refuse(`has a file ${moduleFile} that is no module: it has no ${entryPoints.join(' or ')}`)
    if (said !== null && said !== file.sha256)
      throw refuse(`says sha256 ${said} in module.json, and ${moduleFile} has ${file.sha256}`)
    return { manifest, ...file }
  })
}

async function readJson(content: Pieces): Promise<unknown> {
  const parts: Uint8Array[] = []
  let bytes = 0
  for await (const piece of content) {
    bytes += piece.byteLength
    if (bytes > MOST_JSON_BYTES) throw refuse(`has a module.json of more than ${MOST_JSON_BYTES} bytes`)
    parts.push(piece)
  }
  try {
    return JSON.parse(Buffer.concat(parts).toString('utf8'))
  } catch (cause) {
    throw refuse(`has a module.json that is not JSON: ${messageOf(cause)}`)
  }
}

async function unpack(content: Pieces, path: string) {
  const hash = createHash('sha256')
  let [sizeBytes, header, hasEntryPoint, end] = [0, Buffer.alloc(0), false, Buffer.alloc(0)]
  await using file = await open(path, 'wx', 0o600)
  for await (const piece of content) {
    sizeBytes += piece.byteLength
    hash.update(piece)
    if (header.length < HEADER_BYTES) header = Buffer.concat([header, piece]).subarray(0, HEADER_BYTES)
    // A name may span two pieces.
    const seen = Buffer.concat([end, piece])
    hasEntryPoint ||= entryPoints.some((name) => seen.includes(name))
    end = seen.subarray(-LONGEST_NAME)
    await file.writeFile(piece)
  }
  await file.sync()
  return { sha256: hash.digest('hex'), sizeBytes, header, hasEntryPoint }
}

const LONGEST_NAME = Math.max(...entryPoints.map(({ length }) => length))

function refuse(what: string): Refusal {
  return new Refusal('invalid_module', `the package ${what}`)
}
