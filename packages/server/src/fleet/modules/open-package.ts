import { crc32 } from 'node:zlib'
import { type Pieces, Refusal } from '@fairlead/api'
import { messageOf } from '@fairlead/engine'
import { type Entry, openPromise, type ZipFile } from 'yauzl'

/** A zip with valid entries only. */
export interface Package {
  has(name: string): boolean
  /** Reads an existing entry. Throws Refusal if its content contradicts the zip. */
  read(name: string): Pieces
}

/** How much a package may unpack to. */
export interface PackageLimits {
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
export async function openPackage<T>(
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
