/** A module of the catalogue: the content of its package, and its file. */
export interface Module extends ModuleManifest {
  /** 32 hexadecimal digits. */
  readonly uid: string
  /** Of the shared object. */
  readonly sha256: string
  /** Of the shared object. */
  readonly sizeBytes: number
  /** ISO 8601. */
  readonly createdAt: string
}

/** The content of module.json, in Fairlead's terms. */
export interface ModuleManifest {
  /** As the engine's MODULE LIST reports it. */
  readonly name: string
  readonly displayName: string
  /** major.minor.patch */
  readonly semanticVersion: string
  /** major × 10000 + minor × 100 + patch. Engines may report less: some modules leave the patch out. */
  readonly version: number
  readonly capabilities: readonly string[]
  readonly capabilityName: string
  /** Of the engine; null: not given. */
  readonly minEngineVersion: string | null
  /** The only major.minor of the engine for which the module is made; null: not given. */
  readonly compatibleEngineVersion: string | null
  /** Of the cluster's software; null: not given. */
  readonly minEnginePackVersion: string | null
  /** Its arguments if a database names none. */
  readonly commandLineArgs: string
  readonly configCommand: string
  readonly commands: readonly ModuleCommand[]
  readonly selfTest: readonly SelfTestStep[]
  /** The name of its file in the package. */
  readonly moduleFile: string
  readonly author: string
  readonly email: string
  readonly description: string
  readonly homepage: string
  readonly license: string
  /** Versions of the active-active feature sets that it supports; null: not given. */
  readonly featureSets: readonly number[] | null
  readonly bigstoreVersion2: boolean
}

/** A command of a module, with the positions of its keys as `COMMAND INFO` of engines has them. */
export interface ModuleCommand {
  readonly name: string
  readonly arity: number
  readonly firstKey: number
  readonly lastKey: number
  readonly step: number
  readonly flags: readonly string[]
}

/** A command and the expected reply. Without `reply`: any reply that is not an error. */
export interface SelfTestStep {
  readonly command: readonly string[]
  readonly reply?: unknown
}

/** "2.8.7" → 20807. Null for any text that is not major.minor.patch, or has a minor or patch above 99. */
export function versionNumber(semanticVersion: string): number | null {
  const parts = /^(0|[1-9]\d{0,4})\.(0|[1-9]\d?)\.(0|[1-9]\d?)$/.exec(semanticVersion)
  if (parts === null) return null
  const [, major, minor, patch] = parts.map(Number)
  return (major ?? 0) * 10_000 + (minor ?? 0) * 100 + (patch ?? 0)
}
