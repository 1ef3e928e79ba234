/** A module of the catalogue: contents of its package, and its file. */
export interface Module extends ModuleManifest {
  /** 32 hexadecimal digits. */
  readonly uid: string
  /** Hash of the shared object. */
  readonly sha256: string
  /** Size of the shared object. */
  readonly sizeBytes: number
  /** ISO 8601. */
  readonly createdAt: string
}

/** Contents of module.json, in Fairlead's terms. */
export interface ModuleManifest {
  /** Name in the engine's MODULE LIST. */
  readonly name: string
  readonly displayName: string
  /** major.minor.patch */
  readonly semanticVersion: string
  /** major × 10000 + minor × 100 + patch. Engines may report less: some modules omit the patch. */
  readonly version: number
  readonly capabilities: readonly string[]
  readonly capabilityName: string
  /** Version of the engine; null if not given. */
  readonly minEngineVersion: string | null
  /** The only major.minor of the engine that the module is made for; null if not given. */
  readonly compatibleEngineVersion: string | null
  /** Version of the cluster's software; null if not given. */
  readonly minEnginePackVersion: string | null
  /** Arguments for a database without any. */
  readonly commandLineArgs: string
  readonly configCommand: string
  readonly commands: readonly ModuleCommand[]
  readonly selfTest: readonly SelfTestStep[]
  /** Name of its file in the package. */
  readonly moduleFile: string
  readonly author: string
  readonly email: string
  readonly description: string
  readonly homepage: string
  readonly license: string
  /** Supported versions of active-active feature sets; null if not given. */
  readonly featureSets: readonly number[] | null
  readonly bigstoreVersion2: boolean
}

/** A command of a module, with key positions as in engines' `COMMAND INFO`. */
export interface ModuleCommand {
  readonly name: string
  readonly arity: number
  readonly firstKey: number
  readonly lastKey: number
  readonly step: number
  readonly flags: readonly string[]
}

/** A command and the expected reply; without `reply` any reply except an error. */
export interface SelfTestStep {
  readonly command: readonly string[]
  readonly reply?: unknown
}

/** Converts "2.8.7" to 20807. Null for text that is not major.minor.patch, or a minor or patch above 99. */
export function versionNumber(semanticVersion: string): number | null {
  const parts = /^(0|[1-9]\d{0,4})\.(0|[1-9]\d?)\.(0|[1-9]\d?)$/.exec(semanticVersion)
  if (parts === null) return null
  const [, major, minor, patch] = parts.map(Number)
  return (major ?? 0) * 10_000 + (minor ?? 0) * 100 + (patch ?? 0)
}

/** A change of the catalogue as shown to people; recorded when it has ended. */
export interface ModuleAction {
  readonly uid: string
  readonly kind: 'upload' | 'delete'
  readonly moduleUid: string
  /** ISO 8601. */
  readonly createdAt: string
}

/**
 * Splits a line of module arguments like engines split configuration lines: at spaces outside of quotes. Null
 * if a quote is not closed.
 */
export function splitArgs(line: string): readonly string[] | null {
  const words: string[] = []
  let rest = line.trim()
  while (rest !== '') {
    const match = WORD.exec(rest)
    if (match === null) return null
    const [whole, double, single, bare] = match
    words.push((double ?? single)?.replace(/\\(.)/g, '$1') ?? bare ?? '')
    rest = rest.slice(whole.length).trimStart()
  }
  return words
}

/** "…", '…' or a word without quotes, up to the next space. */
const WORD = /^(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'|([^\s"']+))(?=\s|$)/

/** Returns a line that splits into these words. */
export function joinArgs(words: readonly string[]): string {
  return words
    .map((word) => (/^[^\s"'\\]+$/.test(word) ? word : `"${word.replace(/["\\]/g, '\\$&')}"`))
    .join(' ')
}
