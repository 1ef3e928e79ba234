import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { codeOf } from '@fairlead/engine'
import { chooseArchive, chooseSecurityArchive } from './choose-archive.ts'
import { FetchError } from './fetch-error.ts'
import { readAptFailure } from './read-apt-failure.ts'
import { readLibraries } from './read-dependencies.ts'
import { type Offer, readOffers } from './read-offers.ts'
import { runProgram } from './run-program.ts'

/** Folder of a private apt, and its settings. */
export interface AptPlace {
  /** Holds all files that apt writes, also temporary ones. The caller creates and removes it. */
  readonly folder: string
  /** A .gpg file with the keys that may sign the archive. */
  readonly keyring: string
  readonly env?: NodeJS.ProcessEnv | undefined
  readonly signal?: AbortSignal | undefined
}

/** Debian's archive, as reached from this machine. */
export interface Archive {
  readonly uri: string
  /** Archive of the suites …-security; null if the machine has none. */
  readonly securityUri: string | null
  /** Debian's name of the architecture: "amd64". */
  readonly architecture: string
}

/** A private apt with separate sources, lists, cache and status. It changes no system file; needs no root. */
export interface AptRoot {
  /** Returns the versions of a package in these suites. */
  offers(flavour: string): Promise<readonly Offer[]>
  /** Downloads a package and its libraries into `folder`. apt checks all files against the signed lists. */
  download(offer: Offer, folder: string): Promise<void>
  /** Downloads the newest version of one package without dependencies; `bad_request` if there is none. */
  downloadPackage(name: string, folder: string): Promise<void>
  /** Downloads the newest version of a package and its libraries, except those for which `isHere` is true. */
  downloadTree(name: string, folder: string, isHere: (library: string) => boolean): Promise<void>
}

// The shortest download takes 0.5 s; the longest measured ones took 5 s (a list) and 4 s (a package, 10 MB).
// These deadlines suffice for 100 KB/s.
const updateDeadlineMs = 180_000
const downloadDeadlineMs = 300_000
const askDeadlineMs = 30_000

/** Returns the machine's architecture. Throws FetchError if it has no apt. */
export async function readArchitecture(place: Pick<AptPlace, 'env' | 'signal'>): Promise<string> {
  const { env, signal } = place
  try {
    const ask = (program: string, arg: string) =>
      runProgram({ program, args: [arg], deadlineMs: askDeadlineMs, env, signal })
    await ask('apt-get', '--version')
    const { stdout } = await ask('dpkg', '--print-architecture')
    if (/^[a-z0-9-]+\s*$/.test(stdout)) return stdout.trim()
    throw new FetchError('no_apt', 'dpkg does not say what kind of machine this is')
  } catch (cause) {
    if (codeOf(cause) !== 'ENOENT') throw cause
    throw new FetchError(
      'no_apt',
      'this machine has no apt: builds can be fetched on Debian only; elsewhere install an engine, so that PATH leads to it',
      { cause },
    )
  }
}

/** Finds Debian's archive in the machine's apt sources, even if apt was never updated. Throws FetchError. */
export async function findArchive(place: AptPlace, architecture: string): Promise<Archive> {
  const lists = join(place.folder, 'no-lists')
  await mkdir(join(lists, 'partial'), { recursive: true })
  // Without lists, apt considers nothing up to date, and prints all sources.
  const options = ['-o', `Dir::State::lists=${lists}`, '-o', 'Debug::NoLocking=1']
  const doing = 'reading the apt sources of this machine'
  const uris = await runApt(place, 'apt-get', [...options, '--print-uris', 'update'], { doing })
  const uri = chooseArchive(uris)
  if (uri !== null) return { uri, securityUri: chooseSecurityArchive(uris), architecture }
  throw new FetchError(
    'no_apt',
    'the apt sources of this machine name no Debian archive: add one, or install an engine so that PATH leads to it',
  )
}

/** Creates a private apt for these suites (…-security in the security archive). Throws FetchError. */
export async function openAptRoot(
  place: AptPlace,
  archive: Archive,
  suites: readonly string[],
): Promise<AptRoot> {
  const root = join(place.folder, `apt-${suites.join('-')}`)
  await writeAptRoot(root, place.keyring, archive, suites)
  const options = optionsOf(root, archive)
  const apt = (program: string, args: readonly string[], run: AptRun) =>
    runApt(place, program, [...options, ...args], run)

  const update = ['-o', 'APT::Update::Error-Mode=any', 'update']
  await apt('apt-get', update, {
    doing: `reading the package list of ${suites.join(' and ')}`,
    deadlineMs: updateDeadlineMs,
  })

  return {
    async offers(flavour) {
      const doing = `looking for ${flavour} in ${suites.join(' and ')}`
      return readOffers(await apt('apt-cache', ['madison', packageOf(flavour)], { doing }))
    },
    async download(offer, folder) {
      const doing = `downloading ${offer.flavour} ${offer.version}`
      const wanted = `${packageOf(offer.flavour)}=${offer.debianVersion}`
      const depends = await apt('apt-cache', ['depends', '--recurse', '--important', wanted], { doing })
      const libraries = readLibraries(packageOf(offer.flavour), depends)
      await mkdir(folder, { recursive: true })
      await apt('apt-get', ['download', wanted, ...libraries], {
        doing,
        deadlineMs: downloadDeadlineMs,
        cwd: folder,
      })
    },
    async downloadPackage(name, folder) {
      const doing = `downloading ${name} from ${suites.join(' and ')}`
      const offered = await apt('apt-cache', ['madison', name], { doing })
      if (offered.trim() === '')
        throw new FetchError('bad_request', `${suites.join(' and ')} offers no ${name}`)
      await mkdir(folder, { recursive: true })
      await apt('apt-get', ['download', name], { doing, deadlineMs: downloadDeadlineMs, cwd: folder })
    },
    async downloadTree(name, folder, isHere) {
      const doing = `downloading ${name} from ${suites.join(' and ')}`
      const depends = await apt('apt-cache', ['depends', '--recurse', '--important', name], { doing })
      const libraries = readLibraries(name, depends).filter((library) => !isHere(library))
      await mkdir(folder, { recursive: true })
      const wanted = ['download', name, ...libraries]
      await apt('apt-get', wanted, { doing, deadlineMs: downloadDeadlineMs, cwd: folder })
    },
  }
}

/** Returns the package with the programs: Debian's server package has only links, a user and a service. */
function packageOf(flavour: string): string {
  return `${flavour}-tools`
}

async function writeAptRoot(root: string, keyring: string, archive: Archive, suites: readonly string[]) {
  for (const folder of ['state', 'lists/partial', 'cache/archives/partial'])
    await mkdir(join(root, folder), { recursive: true })
  await writeFile(join(root, 'status'), '')
  const sources = suites.map((suite) => ({
    Types: 'deb',
    URIs: isOfSecurity(suite) ? (archive.securityUri ?? archive.uri) : archive.uri,
    Suites: suite,
    Components: 'main',
    Architectures: archive.architecture,
    // Without icons, contents and translations, which other software of the machine adds to each source.
    Targets: 'Packages',
    'Signed-By': keyring,
  }))
  const stanzas = sources.map((source) =>
    Object.entries(source)
      .map(([field, value]) => `${field}: ${value}\n`)
      .join(''),
  )
  await writeFile(join(root, 'debian.sources'), stanzas.join('\n'))
  // The machine's hooks are for the machine's apt. A command-line option cannot clear a list.
  const hooks = ['APT::Update::Pre-Invoke', 'APT::Update::Post-Invoke', 'APT::Update::Post-Invoke-Success']
  await writeFile(join(root, 'no-hooks.conf'), hooks.map((hook) => `#clear ${hook};\n`).join(''))
}

function isOfSecurity(suite: string): boolean {
  return suite.endsWith('-security')
}

/** The machine's apt.conf remains in force: its proxy may be needed to reach the archive. */
function optionsOf(root: string, { architecture }: Archive): readonly string[] {
  const settings = {
    'Dir::State': join(root, 'state'),
    'Dir::State::lists': join(root, 'lists'),
    'Dir::State::status': join(root, 'status'),
    'Dir::Cache': join(root, 'cache'),
    'Dir::Etc::sourcelist': join(root, 'debian.sources'),
    'Dir::Etc::sourceparts': '/dev/null',
    'Dir::Etc::preferences': '/dev/null',
    'Dir::Etc::preferencesparts': '/dev/null',
    'Dir::Etc::trusted': '/dev/null',
    'Dir::Etc::trustedparts': '/dev/null',
    'APT::Architecture': architecture,
    'APT::Architectures': architecture,
    'APT::Default-Release': '',
    'Acquire::Languages': 'none',
    'Acquire::Retries': '2',
    'Acquire::http::Timeout': '20',
    'Acquire::https::Timeout': '20',
    'Debug::NoLocking': '1',
    // As root, apt would download as the user _apt, which may have no access to this folder.
    ...(process.getuid?.() === 0 ? { 'APT::Sandbox::User': 'root' } : {}),
  }
  const options = Object.entries(settings).flatMap(([name, value]) => ['-o', `${name}=${value}`])
  return ['-q', '-q', '-c', join(root, 'no-hooks.conf'), ...options]
}

interface AptRun {
  readonly doing: string
  readonly deadlineMs?: number
  readonly cwd?: string
}

/** Runs a program and returns its output. Throws FetchError if it fails. */
async function runApt(
  place: AptPlace,
  program: string,
  args: readonly string[],
  { doing, deadlineMs = askDeadlineMs, cwd = place.folder }: AptRun,
): Promise<string> {
  // apt checks signatures with temporary files. After a kill they remain, and are removed with the folder.
  const temporary = join(place.folder, 'tmp')
  await mkdir(temporary, { recursive: true })
  const setting = { LC_ALL: 'C', TMPDIR: temporary }
  const { env, signal } = place
  const end = await runProgram({ program, args, deadlineMs, cwd, env, setting, signal })
  if (end.code !== 0) throw readAptFailure(doing, end)
  return end.stdout
}
