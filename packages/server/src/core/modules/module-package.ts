import type { Refused } from '../state/refused.ts'
import { type ModuleCommand, type ModuleManifest, type SelfTestStep, versionNumber } from './module.ts'
import { isNameOf } from './shared-object.ts'

/** Contents of a package's module.json, and claims that its file must confirm. */
export interface ReadManifest {
  readonly manifest: ModuleManifest
  /** Lower case; null if not given. */
  readonly sha256: string | null
}

/** More commands would make a trial longer than clients wait. */
const MOST_STEPS = 16

/**
 * Reads the parsed module.json of a package for this architecture (`x64`, `arm64`), in other tools' form or
 * Fairlead's. Refuses it with every missing, wrong or contradictory field and its correction.
 */
export function readManifest(json: unknown, architecture: string): ReadManifest | Refused {
  if (!isObject(json)) return invalid(['it must be one object'])
  const faults: string[] = []
  const read = createReader(json, faults)
  const name = read.text('module_name', /^[\w.-]{1,64}$/, 'must be the name that MODULE LIST shows') ?? ''
  const semanticVersion = read.text('semantic_version', /./, 'must be major.minor.patch') ?? ''
  const manifest: ModuleManifest = {
    name,
    displayName: read.text('display_name', short, SHORT, name),
    semanticVersion,
    version: readVersion(json, semanticVersion, faults),
    capabilities: read.texts('capabilities') ?? missing('capabilities', faults),
    capabilityName: read.text('capability_name', short, SHORT, name),
    minEngineVersion: read.spelt('min_redis_version', 'min_engine_version'),
    compatibleEngineVersion: read.spelt('compatible_redis_version', 'compatible_engine_version'),
    minEnginePackVersion: read.spelt('min_redis_pack_version', 'min_engine_pack_version'),
    commandLineArgs: read.text('command_line_args', short, SHORT, ''),
    configCommand: read.text('config_command', short, SHORT, ''),
    commands: readCommands(json['commands'], faults),
    selfTest: readSelfTest(json['self_test'], faults),
    moduleFile: readModuleFile(read, faults),
    ...readAbout(read),
    featureSets: readFeatureSets(json['crdb'], faults),
    bigstoreVersion2: readFlag(json, 'bigstore_version_2_support', faults),
  }
  const sha256 = read.optional('sha256', /^[0-9a-f]{64}$/i, 'must be 64 hexadecimal digits')
  const machine = read.optional('architecture', short, SHORT)
  if (machine !== null && !isNameOf(architecture, machine))
    faults.push(`architecture: ${machine} is not what the nodes are (${architecture})`)
  const systems = [read.optional('os', short, SHORT) ?? [], read.texts('operating_systems') ?? []].flat()
  if (faults.length > 0) return invalid(faults)
  return refuseWorld(systems, json['dependencies']) ?? { manifest, sha256: sha256?.toLowerCase() ?? null }
}

const short = /^[^\n\r\0]{0,4096}$/
const SHORT = 'must be one line of text'

/** Returns faults that cannot be corrected in module.json alone. */
function refuseWorld(systems: readonly string[], dependencies: unknown): Refused | undefined {
  // Names of distributions only indicate the C library of the build; the trial shows if it runs here.
  if (
    systems.length > 0 &&
    systems.every((system) => /^(darwin|mac|osx|win|\w*bsd|solaris|sunos|aix)/i.test(system))
  )
    return {
      refused: 'os_not_supported',
      message: `the module is made for ${systems.join(', ')}, and the nodes run Linux; upload the package for Linux`,
    }
  const names = isObject(dependencies) ? Object.keys(dependencies) : []
  if (names.length === 0) return undefined
  return {
    refused: 'dependencies_not_supported',
    message: `dependencies: ${names.join(', ')} would not be installed; install them on the nodes, or link them in, and take the field out of module.json`,
  }
}

function createReader(json: Fields, faults: string[]) {
  const optional = (field: string, pattern: RegExp, fix: string): string | null => {
    const value = json[field]
    if (value === undefined || value === null) return null
    if (typeof value === 'string' && pattern.test(value)) return value
    faults.push(`${field}: ${fix}`)
    return null
  }
  return {
    optional,
    /** Without `otherwise` the field is required. */
    text(field: string, pattern: RegExp, fix: string, otherwise?: string): string {
      const value = optional(field, pattern, fix)
      if (value === null && otherwise === undefined && json[field] == null)
        faults.push(`${field}: is missing; it ${fix}`)
      return value ?? otherwise ?? ''
    },
    texts(field: string): readonly string[] | null {
      const value = json[field]
      if (value === undefined || value === null) return null
      if (isTexts(value)) return value
      faults.push(`${field}: must be a list of texts`)
      return []
    },
    /** Reads a version with different field names in other tools and in Fairlead. */
    spelt(theirs: string, ours: string): string | null {
      const fix = 'must be a version such as 7.2 or 7.2.4'
      const [one, other] = [optional(theirs, versionLike, fix), optional(ours, versionLike, fix)]
      if (one !== null && other !== null && one !== other)
        faults.push(`${ours}: ${other} contradicts ${theirs}, which is ${one}; name one of them`)
      return one ?? other
    },
  }
}
type Reader = ReturnType<typeof createReader>

const versionLike = /^\d{1,5}(\.\d{1,5}){0,2}$/

function readVersion({ version }: Fields, semanticVersion: string, faults: string[]): number {
  const meant = versionNumber(semanticVersion)
  if (meant === null) {
    if (semanticVersion !== '')
      faults.push('semantic_version: must be major.minor.patch, the last two below 100')
    return 0
  }
  if (version !== undefined && version !== null && version !== meant)
    faults.push(
      `version: ${JSON.stringify(version)} contradicts semantic_version ${semanticVersion}, which is ${meant}; leave version out`,
    )
  return meant
}

function readModuleFile(read: Reader, faults: string[]): string {
  const file = read.text('module_file', /^[^\n\r\0]{1,255}$/, 'must be the name of the .so in the package')
  if (/[/\\]|^\.|^module\.json$/.test(file))
    faults.push('module_file: must be the name of a file at the root of the package, beside module.json')
  return file
}

function readAbout(read: Reader) {
  return {
    author: read.text('author', short, SHORT, ''),
    email: read.text('email', short, SHORT, ''),
    description: read.text('description', /^[^\0]{0,4096}$/, 'must be a text', ''),
    homepage: read.text('homepage', short, SHORT, ''),
    license: read.text('license', short, SHORT, ''),
  }
}

function readCommands(value: unknown, faults: string[]): readonly ModuleCommand[] {
  if (value === undefined || value === null) return []
  const commands = Array.isArray(value) ? value.map(readCommand) : [null]
  if (commands.includes(null))
    faults.push('commands: must be a list of {command_name, command_arity, first_key, last_key, step, flags}')
  return commands.filter((command) => command !== null)
}

function readCommand(value: unknown): ModuleCommand | null {
  if (!isObject(value)) return null
  const {
    command_name: name,
    command_arity: arity,
    first_key: firstKey,
    last_key: lastKey,
    step,
    flags,
  } = value
  if (typeof name !== 'string' || !isInteger(arity)) return null
  if (!isInteger(firstKey) || !isInteger(lastKey) || !isInteger(step) || !isTexts(flags)) return null
  return { name, arity, firstKey, lastKey, step, flags }
}

function readSelfTest(value: unknown, faults: string[]): readonly SelfTestStep[] {
  if (value === undefined || value === null) return []
  const steps = Array.isArray(value) ? value.map(readStep) : [null]
  if (steps.includes(null))
    faults.push(
      'self_test: must be a list of {"command": ["NAME", "argument", …], "reply": …}, reply being optional',
    )
  if (steps.length > MOST_STEPS) faults.push(`self_test: must have at most ${MOST_STEPS} commands`)
  return steps.filter((step) => step !== null)
}

function readStep(value: unknown): SelfTestStep | null {
  if (!isObject(value) || !isTexts(value['command']) || value['command'].length === 0) return null
  if (Object.keys(value).some((key) => key !== 'command' && key !== 'reply')) return null
  const { command } = value
  return 'reply' in value ? { command, reply: value['reply'] } : { command }
}

function readFeatureSets(crdb: unknown, faults: string[]): readonly number[] | null {
  if (crdb === undefined || crdb === null) return null
  const sets = isObject(crdb) ? (crdb['supported_featureset_versions'] ?? null) : 'wrong'
  if (sets === null) return null
  if (Array.isArray(sets) && sets.every(isInteger)) return sets
  faults.push('crdb: must be {} or {"supported_featureset_versions": [1, …]}')
  return null
}

function readFlag(json: Fields, field: string, faults: string[]): boolean {
  const value = json[field]
  if (value !== undefined && value !== null && typeof value !== 'boolean')
    faults.push(`${field}: must be true or false`)
  return value === true
}

function missing(field: string, faults: string[]): readonly string[] {
  faults.push(`${field}: is missing; it must be the list of what the module supports, [] for nothing`)
  return []
}

function invalid(faults: readonly string[]): Refused {
  return {
    refused: 'invalid_module',
    message: `module.json: ${faults.join('; ')}`,
    obstacles: faults.map((fault) => ({
      refused: 'invalid_module',
      message: `module.json: ${fault}`,
      field: 'module',
    })),
  }
}

type Fields = Readonly<Record<string, unknown>>

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((one) => typeof one === 'string')
}

function isInteger(value: unknown): value is number {
  return Number.isSafeInteger(value)
}
