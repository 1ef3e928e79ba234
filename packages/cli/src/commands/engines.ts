import {
  createBuildFinder,
  FetchError,
  type FetchRequest,
  fetchBuild,
  knownHoles,
  runsForeignCode,
} from '@fairlead/agent'
import type { FoundBuild } from '@fairlead/api'
import { Listr } from 'listr2'
import { drawWhole } from '../output/draw-table.ts'
import { exitCodes } from '../output/exit-codes.ts'

interface Settings {
  /** Like $PATH. */
  readonly path: string
  /** Folder of builds. */
  readonly folder: string
}

/** Prints startable builds with their number of known holes, for people or as JSON; broken ones to stderr. */
export async function listEngines({ path, folder }: Settings, asJson: boolean): Promise<void> {
  const finder = createBuildFinder({ path, folder })
  const builds = await finder.list()
  const judged = builds.map((build) => ({ ...build, known_holes: knownHoles(build) }))
  process.stdout.write(asJson ? `${JSON.stringify(judged, null, 2)}\n` : describe(builds))
  for (const { program, why } of await finder.listBroken())
    process.stderr.write(`fairlead: left out ${program}: it ${why}\n`)
}

function describe(builds: readonly FoundBuild[]): string {
  if (builds.length === 0) return 'There is no engine build yet; fairlead engines fetch valkey brings one\n'
  const head = ['FLAVOUR', 'VERSION', 'SOURCE', 'SUITE', 'KNOWN HOLES', 'PROGRAM']
  const rows = builds.map((build) => [
    ...[build.flavour, build.version, build.source, build.suite ?? ''],
    ...[String(knownHoles(build).length), build.program],
  ])
  const table = drawWhole([head, ...rows])
  return `${table}${builds.map(warning).join('')}`
}

/** Warns of holes that let clients run code in the engine; empty if none is known. */
function warning(build: FoundBuild): string {
  const holes = knownHoles(build).filter(runsForeignCode)
  if (holes.length === 0) return ''
  const name = `${build.flavour} ${build.version}`
  const lines = holes.map(({ id, what }) => `  ${id}  ${what}\n`)
  return `\nClients can run code in ${name}, so new databases do not run it:\n${lines.join('')}`
}

const codeAfter = { SIGINT: exitCodes.interrupted.code, SIGTERM: exitCodes.terminated.code } as const

/** Fetches a build, or prints the reason to stderr; after a signal, the exit code shows it. */
export async function fetchEngine(
  { folder }: Settings,
  sought: Pick<FetchRequest, 'flavour' | 'version' | 'alsoUnstable'>,
): Promise<void> {
  // Builds are readable by all: shards may run as another user.
  process.umask(0o022)
  const stop = new AbortController()
  const onSignal = (signal: keyof typeof codeAfter) => {
    process.exitCode = codeAfter[signal]
    stop.abort()
  }
  process.on('SIGINT', onSignal).on('SIGTERM', onSignal)
  try {
    const build = await showProgress([sought.flavour, sought.version ?? []].flat().join(' '), (onProgress) =>
      fetchBuild({ ...sought, folder, onProgress, signal: stop.signal }),
    )
    const from = build.suite === undefined ? '' : `, from Debian's ${build.suite}`
    process.stdout.write(`${build.flavour} ${build.version} is here${from}: ${build.program}\n`)
    process.stderr.write(warning(build))
  } catch (cause) {
    if (stop.signal.aborted) {
      process.stderr.write('fairlead: stopped; nothing was left behind\n')
      return
    }
    if (!(cause instanceof FetchError)) throw cause
    process.stderr.write(`fairlead: ${cause.message}\n`)
    process.exitCode = 1
  } finally {
    process.off('SIGINT', onSignal).off('SIGTERM', onSignal)
  }
}

/** Shows an updated line on a terminal, plain lines elsewhere. */
async function showProgress<T>(what: string, work: (tell: (line: string) => void) => Promise<T>): Promise<T> {
  if (!process.stdout.isTTY) return work((line) => process.stdout.write(`${line}\n`))
  const { promise, resolve } = Promise.withResolvers<T>()
  const tasks = new Listr(
    {
      title: `Fetching ${what}`,
      task: async (_, task) => {
        resolve(
          await work((line) => {
            task.output = line
          }),
        )
      },
    },
    // Errors and Ctrl-C are handled here: listr2 would exit immediately with unfinished work.
    { registerSignalListeners: false, rendererOptions: { showErrorMessage: false } },
  )
  await tasks.run()
  return promise
}
