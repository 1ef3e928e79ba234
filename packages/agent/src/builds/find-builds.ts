import { readdir, stat } from 'node:fs/promises'
import { isAbsolute, join, resolve } from 'node:path'
import type { Build, FoundBuild } from '@fairlead/api'
import { codeOf, compareVersions, messageOf, readProgramVersion } from '@fairlead/engine'
import { readPackage } from './read-package.ts'
import { runProgram } from './run-program.ts'

/** A program that looks like an engine build but is not, or an unreadable folder. */
export interface BrokenBuild {
  readonly program: string
  readonly why: string
}

/** Finds the engine builds of this node. Every call searches again; each file is asked only once. */
export interface BuildFinder {
  /** Returns the builds that answer, each flavour and version once, sorted by flavour, then version. */
  list(signal?: AbortSignal): Promise<readonly FoundBuild[]>
  /** Returns the build of exactly this flavour and version. */
  find(build: Build, signal?: AbortSignal): Promise<FoundBuild | undefined>
  /** Returns what `list` omits, with reasons, sorted by program. */
  listBroken(signal?: AbortSignal): Promise<readonly BrokenBuild[]>
}

const flavours = ['redict', 'redis', 'valkey']
const versionDeadlineMs = 3_000
/** Number of programs asked at the same time: two cores answer eight `--version` no faster. */
const askedAtOnce = 4
/** A program that gave no version is asked again after this time: the machine may have been too busy. */
const askAgainAfterMs = 60_000

type Source = FoundBuild['source']
type Answer =
  | {
      readonly kind: 'build'
      readonly flavour: string
      readonly version: string
      readonly from: Pick<FoundBuild, 'package' | 'suite'>
    }
  | { readonly kind: 'broken'; readonly why: string; readonly askedAt: number }
interface Candidate {
  readonly program: string
  readonly source: Source
  /** Path, modification time and size: another file at the same path is asked again. */
  readonly key: string
}

/**
 * Creates a finder for the directories of `path` (like $PATH; relative ones are ignored) and `<folder>/<any
 * name>/bin/<flavour>-server`. Names that begin with a dot are ignored.
 */
export function createBuildFinder(places: { readonly path: string; readonly folder: string }): BuildFinder {
  let answers: ReadonlyMap<string, Answer> = new Map()

  const survey = async (signal: AbortSignal | undefined) => {
    const folder = await readFolder(resolve(places.folder))
    const candidates = await locate([...folder.candidates, ...programsOnPath(places.path)])
    const known = new Map<string, Answer>()
    for (let n = 0; n < candidates.length; n += askedAtOnce) {
      const group = candidates.slice(n, n + askedAtOnce)
      const answered = await Promise.all(
        group.map(async ({ key, program }) => recall(answers.get(key)) ?? (await ask(program, signal))),
      )
      group.forEach(({ key }, i) => {
        const answer = answered[i]
        if (answer) known.set(key, answer)
      })
    }
    signal?.throwIfAborted()
    answers = known
    const broken = candidates.flatMap(({ key, program }) => {
      const answer = known.get(key)
      return answer?.kind === 'broken' ? [{ program, why: answer.why }] : []
    })
    return { builds: chooseBuilds(candidates, known), broken: [...folder.broken, ...broken] }
  }

  const list = async (signal?: AbortSignal) => (await survey(signal)).builds
  return {
    list,
    async find({ flavour, version }, signal) {
      const builds = await list(signal)
      return builds.find((build) => build.flavour === flavour && build.version === version)
    },
    async listBroken(signal) {
      return (await survey(signal)).broken.toSorted((a, b) => byText(a.program, b.program))
    },
  }
}

function recall(answer: Answer | undefined): Answer | undefined {
  if (answer?.kind === 'broken' && Date.now() - answer.askedAt > askAgainAfterMs) return undefined
  return answer
}

type Place = Pick<Candidate, 'program' | 'source'>

async function readFolder(folder: string): Promise<{
  readonly candidates: readonly Place[]
  readonly broken: readonly BrokenBuild[]
}> {
  try {
    const names = (await readdir(folder)).filter((name) => !name.startsWith('.'))
    const candidates = names.flatMap((name) =>
      flavours.map(
        (flavour): Place => ({ program: join(folder, name, 'bin', `${flavour}-server`), source: 'folder' }),
      ),
    )
    return { candidates, broken: [] }
  } catch (cause) {
    // Nothing was fetched yet, so there are no builds.
    if (codeOf(cause) === 'ENOENT') return { candidates: [], broken: [] }
    return { candidates: [], broken: [{ program: folder, why: `cannot be read: ${messageOf(cause)}` }] }
  }
}

function programsOnPath(path: string): readonly Place[] {
  const directories = new Set(path.split(':').filter(isAbsolute))
  return [...directories].flatMap((directory) =>
    flavours.map((flavour): Place => ({ program: join(directory, `${flavour}-server`), source: 'path' })),
  )
}

/** Returns the places where there is a file. */
async function locate(places: readonly Place[]): Promise<readonly Candidate[]> {
  const found = await Promise.all(
    places.map(async ({ program, source }) => {
      try {
        const file = await stat(program)
        return file.isFile() ? [{ program, source, key: `${program} ${file.mtimeMs} ${file.size}` }] : []
      } catch {
        // Most paths do not exist; and a program that the agent may not read could not be started either.
        return []
      }
    }),
  )
  return found.flat()
}

async function ask(program: string, signal: AbortSignal | undefined): Promise<Answer> {
  const broken = (why: string): Answer => ({ kind: 'broken', why, askedAt: Date.now() })
  try {
    const end = await runProgram({ program, args: ['--version'], deadlineMs: versionDeadlineMs, signal })
    const version = readProgramVersion(end.stdout)
    if (version && end.code === 0)
      return { kind: 'build', ...version, from: await readPackage(program, signal) }
    if (end.late) return broken(`gave no version within ${versionDeadlineMs / 1_000} s`)
    const words = (end.stdout.trim() || end.stderr.trim()).split('\n')[0]?.slice(0, 120)
    return broken(words ? `is no engine we know; it says: ${words}` : `says nothing (exit code ${end.code})`)
  } catch (cause) {
    if (signal?.aborted) throw cause
    return broken(`cannot be started: ${(cause as Error).message}`)
  }
}

/** Chooses one build per flavour and version: first from the folder, then from PATH, then by program. */
function chooseBuilds(
  candidates: readonly Candidate[],
  answers: ReadonlyMap<string, Answer>,
): readonly FoundBuild[] {
  const builds = candidates
    .flatMap(({ key, program, source }): FoundBuild[] => {
      const answer = answers.get(key)
      return answer?.kind === 'build'
        ? [
            {
              flavour: answer.flavour,
              version: answer.version,
              source,
              program,
              ...answer.from,
            },
          ]
        : []
    })
    .toSorted((a, b) => byText(a.source, b.source) || byText(a.program, b.program))
  const chosen = new Map<string, FoundBuild>()
  for (const build of builds) {
    const name = `${build.flavour} ${build.version}`
    if (!chosen.has(name)) chosen.set(name, build)
  }
  return [...chosen.values()].toSorted(
    (a, b) => byText(a.flavour, b.flavour) || compareVersions(a.version, b.version),
  )
}

function byText(a: string, b: string): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}
