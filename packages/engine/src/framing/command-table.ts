/** A command whose arguments are read. In other requests only the end is found. */
export interface NotedCommand {
  /** In capitals. */
  readonly name: string
  /** Number of its first arguments that are kept; the others are skipped. */
  readonly keeps: number
}

/** Finds a noted command by the bytes of its name, in any case, without a string. */
export type CommandTable = ReadonlyMap<number, NotedCommand>

/** Limit of the names in a table. */
export const LONGEST_NAME = 32

/** `commands`: name in capitals → number of kept arguments. Throws if two names have the same hash. */
export function makeCommandTable(commands: Readonly<Record<string, number>>): CommandTable {
  const table = new Map<number, NotedCommand>()
  for (const [name, keeps] of Object.entries(commands)) {
    const bytes = Buffer.from(name)
    const hash = hashName(bytes, 0, bytes.length)
    if (table.has(hash) || bytes.length > LONGEST_NAME)
      throw new Error(`${name} does not fit into the table: another name has its hash, or it is too long`)
    table.set(hash, { name, keeps })
  }
  return table
}

/** A reader of requests: the commands that it looks for, and the hash of the last name that it has read. */
interface NameReader {
  readonly table: CommandTable
  nameHash: number
}

/** Returns the noted command with the name at `from`..`to`; undefined for others. Notes the name's hash. */
export function findCommand(
  reader: NameReader,
  bytes: Uint8Array,
  from: number,
  to: number,
): NotedCommand | undefined {
  if (to - from > LONGEST_NAME) {
    reader.nameHash = 0
    return undefined
  }
  const hash = hashName(bytes, from, to)
  reader.nameHash = hash
  const found = reader.table.get(hash)
  return found !== undefined && isName(found.name, bytes, from, to) ? found : undefined
}

/** Returns the hash of a command's name, which is the same in any case of its letters. */
export function hashName(bytes: Uint8Array, from: number, to: number): number {
  let hash = 5381
  for (let at = from; at < to; at += 1) hash = (Math.imul(hash, 33) + capital(bytes[at] ?? 0)) | 0
  return hash
}

function isName(name: string, bytes: Uint8Array, from: number, to: number): boolean {
  if (name.length !== to - from) return false
  for (let at = from; at < to; at += 1)
    if (capital(bytes[at] ?? 0) !== name.charCodeAt(at - from)) return false
  return true
}

function capital(byte: number): number {
  return byte >= 0x61 && byte <= 0x7a ? byte - 0x20 : byte
}
