/**
 * What does the endpoint cost? The engine's own benchmark (SETs of 100 bytes, 50 clients) directly, through
 * HAProxy with one thread and with its default threads, through the endpoint, through one without the ring
 * for traces, and directly and through the endpoint over TLS, in turns, with one request under way and with
 * 16; and the memory of 10,000 idle connections. `npm run bench -- endpoint [--rounds 5] [--requests 100000]
 * [--build BUILD] [--only load|idle] [--workers 1] [--node-flags=FLAGS] [--other-flags=FLAGS] [--json]`. All
 * run at once on the same machine. `--other-flags` can be repeated: each adds an endpoint with these flags,
 * `other-1`, `other-2`, which also takes its turns.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { nodeFlags as nodeFlagsOf } from '../../packages/cli/src/parts/node-flags.ts'
import { runProxy } from '../../packages/proxy/test/run-proxy.ts'
import { freePort, makeEndpointSpec } from '../../packages/proxy/test/stage.ts'
import { certificateOf } from '../../packages/proxy/test/tls-stage.ts'
import { enginesFolder } from '../../proof/engines-folder.ts'
import { newestPair } from '../upgrade/newest-pair.ts'
import { startBenchEngine } from '../upgrade/start-engines.ts'
import { measureIdle } from './measure-idle.ts'
import { type EndpointResult, printEndpoint } from './print-endpoint.ts'
import { type Course, runLoad } from './run-load.ts'
import { fetchHaproxy, startHaproxy } from './start-haproxy.ts'
import {
  compareTls,
  compareTraced,
  judgeIdle,
  judgeRuns,
  type Run,
  summarizeRuns,
  type Way,
} from './summarize-endpoint.ts'

const { values: flags } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    requests: { type: 'string', default: '100000' },
    build: { type: 'string' },
    only: { type: 'string' },
    workers: { type: 'string', default: '1' },
    'node-flags': { type: 'string' },
    'other-flags': { type: 'string', multiple: true, default: [] },
    json: { type: 'boolean', default: false },
  },
})
const rounds = whole('rounds', flags.rounds)
const requests = whole('requests', flags.requests)
const workers = whole('workers', flags.workers)
if (flags.only !== undefined && flags.only !== 'load' && flags.only !== 'idle')
  throw new Error(`--only is load or idle, not ${flags.only}`)
const build = flags.build ?? newestPair().to
/** By default the flags with which the product starts the proxy; `--node-flags=` means no flags. */
const wordsOf = (text: string) => text.split(' ').filter((flag) => flag !== '')
const nodeFlags = flags['node-flags'] === undefined ? nodeFlagsOf('proxy') : wordsOf(flags['node-flags'])
/**
 * With 16 requests under way the engine answers about eight times as many a second, so all runs take about
 * the same time.
 */
const depths = [
  { pipeline: 1, requests },
  { pipeline: 16, requests: 8 * requests },
]

await using certificates = await makeCertificates()
const tlsPort = await freePort()
await using engine = await startBenchEngine(build, [
  ...['requirepass ""', 'maxclients 12000'],
  ...[`tls-port ${tlsPort}`, 'tls-auth-clients no', `tls-ca-cert-file ${certificates.certFile}`],
  ...[`tls-cert-file ${certificates.certFile}`, `tls-key-file ${certificates.keyFile}`],
])
const enginePid = Number(/process_id:(\d+)/.exec(String(await engine.call('INFO', 'server')))?.[1])
const noHaproxy = flags.only === 'idle' ? '' : await fetchHaproxy(say)
const runs = flags.only === 'idle' ? [] : await measureLoad()
const idle = flags.only === 'load' ? null : await measureIdle(engine.port, nodeFlags, workers)

const result: EndpointResult = {
  build,
  rounds,
  without_haproxy: noHaproxy ?? '',
  rows: summarizeRuns(runs),
  tls: runs.length === 0 ? [] : compareTls(runs),
  trace: runs.length === 0 ? [] : compareTraced(runs),
  idle,
  goals: [...judgeRuns(runs), ...(idle === null ? [] : [judgeIdle(idle)])],
}
process.stdout.write(flags.json ? `${JSON.stringify(result)}\n` : printEndpoint(result))

async function measureLoad(): Promise<readonly Run[]> {
  await using stack = new AsyncDisposableStack()
  const flavour = build.slice(0, build.lastIndexOf('-'))
  const program = join(enginesFolder(), build, 'bin', `${flavour}-benchmark`)
  const via = (at: { readonly port: number; readonly pid: number | null }, isTls = false): Course => ({
    program,
    port: at.port,
    betweenPid: at.pid,
    enginePid,
    caFile: isTls ? certificates.certFile : null,
  })
  const startEndpoint = async (own: readonly string[], isTls = false) => {
    const proxy = stack.use(await runProxy({ nodeFlags: own, workers }))
    const port = await freePort()
    const plain = makeEndpointSpec(port, engine.port)
    const body = isTls ? { ...plain, tls: certificates.tls } : plain
    await proxy.client.putEndpoint({ params: { id: 'bench' }, body })
    return via({ port, pid: proxy.process().pid ?? null }, isTls)
  }
  const courses = new Map<Way, Course>([['direct', via({ port: engine.port, pid: null })]])
  if (noHaproxy === null) {
    for (const [way, threads] of [
      ['haproxy', 1],
      ['haproxy-default', null],
    ] as const) {
      const { ports, pid } = stack.use(await startHaproxy([engine.port], threads))
      courses.set(way, via({ port: ports[0] ?? 0, pid }))
    }
  }
  courses.set('endpoint', await startEndpoint(nodeFlags))
  const withoutTrace = join(import.meta.dirname, 'without-trace.ts')
  courses.set('endpoint-untraced', await startEndpoint([...nodeFlags, '--import', withoutTrace]))
  courses.set('direct-tls', via({ port: tlsPort, pid: null }, true))
  courses.set('endpoint-tls', await startEndpoint(nodeFlags, true))
  for (const [n, others] of flags['other-flags'].entries())
    courses.set(`other-${n + 1}`, await startEndpoint(wordsOf(others)))
  return await measureRounds(courses)
}

async function measureRounds(courses: ReadonlyMap<Way, Course>): Promise<readonly Run[]> {
  // A warm-up of all, before the first measurement.
  for (const course of courses.values()) await runLoad(course, { pipeline: 1, requests: 20_000 })
  const found: Run[] = []
  for (let round = 0; round < rounds; round += 1) {
    for (const depth of depths)
      for (const [way, course] of turned([...courses], round))
        found.push({ way, ...(await runLoad(course, depth)) })
    say(`round ${round + 1} of ${rounds}`)
  }
  return found
}

/** One for the engine and the endpoint, in files of a folder of its own. */
async function makeCertificates() {
  const folder = await mkdtemp(join(tmpdir(), 'fairlead-bench-tls-'))
  return {
    tls: certificateOf(folder, 'bench'),
    certFile: join(folder, 'bench-cert.pem'),
    keyFile: join(folder, 'bench-key.pem'),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  }
}

/** Each way is the first of a round in turn, because the first one may be affected by the round before. */
function turned<T>(all: readonly T[], by: number): readonly T[] {
  const at = by % all.length
  return [...all.slice(at), ...all.slice(0, at)]
}

function whole(flag: string, text: string): number {
  const number = Number(text)
  if (Number.isInteger(number) && number > 0) return number
  throw new Error(`--${flag} must be a whole number above 0, not ${text}`)
}

function say(sentence: string): void {
  process.stderr.write(`${sentence}\n`)
}
