import { createHash } from 'node:crypto'
import { open } from 'node:fs/promises'
import { crc32 } from 'node:zlib'
import { type Pieces, Refusal } from '@fairlead/api'
import { messageOf } from '@fairlead/engine'
import { type Entry, openPromise, type ZipFile } from 'yauzl'
import type { ModuleManifest } from '../../core/modules/module.ts'
import { readManifest } from '../../core/modules/module-package.ts'
import { entryPoints, faultOfSharedObject, HEADER_BYTES } from '../../core/modules/shared-object.ts'
import { toRefusal } from '../refusals/to-refusal.ts'

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

/** A zip with valid entries only. */
interface Package {
  has(name: string): boolean
  /** Reads an existing entry. Throws Refusal if its content contradicts the zip. */
  read(name: string): Pieces
}

/** How much a package may unpack to. */
interface PackageLimits {
  /** Total unpacked size. */
  readonly bytes: number
}

const MOST_ENTRIES = 256
/** Shared objects shrink to a third, debug symbols to a tenth. */
const MOST_RATIO = 200
/** Small entries may have any ratio. */
const SMALL_BYTES = 1024 * 1024

/**
 * Opens the zip at `path` for `work`. Refuses (invalid_module) forbidden entries: paths out of the folder,
 * links, devices, encryption, duplicates, or more than the limits.
 */
async function openPackage<T>(
  path: string,
  limits: PackageLimits,
  work: (opened: Package) => Promise<T>,
): Promise<T> {
  const zip = await openPromise(path, { autoClose: false, strictFileNames: true }).catch(explain)
  try {
    const entries = await readEntries(zip, limits).catch(explain)
    return await work({
      has: (name) => entries.has(name),
      async *read(name) {
        const entry = entries.get(name)
        if (entry === undefined) throw refuse(`has no file ${name}`)
        yield* checked(await zip.openReadStreamPromise(entry).catch(explain), entry)
      },
    })
  } finally {
    zip.close()
  }
}

async function readEntries(
  zip: ZipFile,
  { bytes: mostBytes }: PackageLimits,
): Promise<ReadonlyMap<string, Entry>> {
  const entries = new Map<string, Entry>()
  if (zip.entryCount > MOST_ENTRIES)
    throw refuse(`has ${zip.entryCount} entries, and ${MOST_ENTRIES} are allowed`)
  let bytes = 0
  // Throws for paths out of the folder (.., absolute, backslashes).
  for await (const entry of zip.eachEntry()) {
    const fault = faultOf(entry)
    if (fault !== undefined) throw refuse(`has an entry ${show(entry.fileName)} that ${fault}`)
    if (entries.has(entry.fileName)) throw refuse(`has two entries ${show(entry.fileName)}`)
    bytes += entry.uncompressedSize
    if (bytes > mostBytes) throw refuse(`would be larger than ${mostBytes} bytes unpacked`)
    entries.set(entry.fileName, entry)
  }
  return entries
}

function faultOf(entry: Entry): string | undefined {
  const { fileName, uncompressedSize, compressedSize, compressionMethod, externalFileAttributes } = entry
  if (!/^[\x20-\x7e\u00a0-\uffff]{1,255}$/.test(fileName)) return 'has an unreadable name'
  const kind = kindOf(externalFileAttributes)
  if (kind !== null) return `is ${kind}; only files and folders may be in a package`
  if (entry.isEncrypted()) return 'is encrypted; pack it without a password'
  if (compressionMethod !== STORED && compressionMethod !== DEFLATED)
    return `is compressed by method ${compressionMethod}; only deflate is read`
  if (uncompressedSize > SMALL_BYTES && uncompressedSize > compressedSize * MOST_RATIO)
    return `unpacks to ${uncompressedSize} bytes from ${compressedSize}, as no module does`
  return undefined
}

const [STORED, DEFLATED] = [0, 8]

/** Unix packers' file type in the upper half; null: a file or a folder. */
function kindOf(attributes: number): string | null {
  const kind = (attributes >>> 16) & 0o170_000
  if (kind === 0 || kind === 0o100_000 || kind === 0o040_000) return null
  return kind === 0o120_000 ? 'a symbolic link' : 'a device or a pipe'
}

/** yauzl checks sizes while reading: no more bytes come than were announced. */
async function* checked(content: Pieces, entry: Entry): Pieces {
  let sum = 0
  try {
    for await (const piece of content) {
      sum = crc32(piece, sum)
      yield piece
    }
  } catch (cause) {
    explain(cause)
  }
  if (sum !== entry.crc32) throw refuse(`is damaged: the checksum of ${show(entry.fileName)} is wrong`)
}

/** Passes disk errors on; all others are faults of the zip. */
function explain(cause: unknown): never {
  if (cause instanceof Refusal || isOfDisk(cause)) throw cause
  throw refuse(`cannot be read as a zip: ${messageOf(cause)}`)
}

function isOfDisk(cause: unknown): boolean {
  return cause instanceof Error && 'syscall' in cause
}

function refuse(what: string): Refusal {
  return new Refusal('invalid_module', `the package ${what}`)
}

function show(name: string): string {
  return JSON.stringify(name.slice(0, 100))
}
