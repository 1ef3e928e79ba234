/**
 * How much do hostile clients of some databases delay a quiet client of another one? One proxy as Fairlead runs it, before engines of their own
 * for the neighbour, a plain and a sharded database, TLS and Sentinel; one case at a time.
 * `npm run bench -- neighbours [--only CASES] [--seconds 3] [--without-bare] [--node-flags=FLAGS] [--json]`; CASES is a regular
 * expression. The proxy is started as the product starts it, unless FLAGS says otherwise.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { constants, setPriority } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { encodeCommand } from '@fairlead/engine'
import { makeHostileStage, PASSWORD } from '../../packages/proxy/test/hostile/hostile-stage.ts'
import { newest, startEngine } from '../../packages/proxy/test/stage.ts'
import { fetchHaproxy, startHaproxy } from '../endpoint/start-haproxy.ts'
import { hostileCases } from './hostile-cases.ts'
import { type Door, signIn } from './hostile-client.ts'
import { printNeighbours } from './print-neighbours.ts'
import { type Felt, isMet, type Row } from './summarize-neighbours.ts'

const { values: flags } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    seconds: { type: 'string', default: '3' },
    'without-bare': { type: 'boolean', default: false },
    'node-flags': { type: 'string' },
    json: { type: 'boolean', default: false },
  },
})
const seconds = Number(flags.seconds)
const only = new RegExp(flags.only)
const nodeFlags = flags['node-flags']?.split(' ').filter((flag) => flag !== '')
/** After this time, nothing is left of the clients before. */
const REST_MS = 300
const KEYS = 300_000

await using stack = new AsyncDisposableStack()
const stage = stack.use(await makeHostileStage(nodeFlags))
const bareEngines = await Promise.all([startEngine(newest), startEngine(newest)])
for (const engine of bareEngines) {
  stack.use(engine)
  await engine.admin(`ACL SETUSER default on >${PASSWORD} ~* &* +@all -@admin`)
}
const [hostileBare, ownBare] = bareEngines
// The same priority as their clients have: engines of others must not take a processor from the proxy, because only the proxy is measured.
for (const pid of [...stage.enginePids, hostileBare.process.pid ?? 0])
  setPriority(pid, constants.priority.PRIORITY_LOW)
const bareDoor: Door = { port: hostileBare.port, password: PASSWORD, ca: null }
const doors = new Map(
  stage.targets.map(({ name, port, ca }): [string, Door] => [name, { port, ca, password: PASSWORD }]),
)
for (const door of [doors.get('sharded'), bareDoor]) if (door !== undefined) await fill(door)
const noHaproxy = flags['without-bare'] ? '' : await fetchHaproxy((text) => process.stderr.write(`${text}\n`))
const [hostilePort = 0, ownPort = 0] =
  noHaproxy === null ? stack.use(await startHaproxy([hostileBare.port, ownBare.port], 1)).ports : []
const neighbour = stack.use(await startNeighbour(stage.port))
const bareNeighbour = stack.use(await startNeighbour(ownBare.port))
const haproxyNeighbour = noHaproxy === null ? stack.use(await startNeighbour(ownPort)) : null

const rows: Row[] = [await calm('no hostile client, before')]
for (const [name, { at, onBare }] of Object.entries(hostileCases)) {
  if (!only.test(name)) continue
  const door = doors.get(at)
  if (door === undefined) throw new Error(`there is no ${at}`)
  await stage.turns()
  const { felt, rounds } = await beside(neighbour, name, door)
  const { mostMs, p99Ms } = await stage.turns()
  const bare = onBare && !flags['without-bare'] ? await beside(bareNeighbour, name, bareDoor) : null
  const throughHaproxy = { ...bareDoor, port: hostilePort }
  const haproxy =
    onBare && haproxyNeighbour !== null ? await beside(haproxyNeighbour, name, throughHaproxy) : null
  rows.push({
    ...{ what: name, at, ...felt, turn: Number(mostMs.toFixed(1)), turn99: p99Ms, rounds, met: isMet(felt) },
    ...{ bare: bare?.felt ?? null, bare_rounds: bare?.rounds ?? 0 },
    ...{ haproxy: haproxy?.felt ?? null, haproxy_rounds: haproxy?.rounds ?? 0 },
  })
  process.stderr.write(
    `${name}: p99 ${felt.p99} ms, max ${felt.max} ms, turn ${mostMs.toFixed(0)} ms (p99 ${p99Ms} ms); bare p99 ${bare?.felt.p99} ms; HAProxy p99 ${haproxy?.felt.p99} ms, rounds ${rounds}, ${bare?.rounds} and ${haproxy?.rounds}\n`,
  )
}
rows.push(await calm('no hostile client, after'))
const result = { build: newest, seconds, rows }
process.stdout.write(flags.json ? `${JSON.stringify(result)}\n` : printNeighbours(result))
if (rows.some(({ met }) => !met)) process.exitCode = 1

async function calm(what: string): Promise<Row> {
  await stage.turns()
  await Promise.all([neighbour.felt(), bareNeighbour.felt()])
  await pause(seconds * 1_000)
  const [felt, bare] = await Promise.all([neighbour.felt(), bareNeighbour.felt()])
  const { mostMs, p99Ms } = await stage.turns()
  return {
    what,
    at: '',
    ...felt,
    turn: Number(mostMs.toFixed(1)),
    turn99: p99Ms,
    rounds: 0,
    bare,
    bare_rounds: 0,
    haproxy: null,
    haproxy_rounds: 0,
    met: isMet(felt),
  }
}

/** The answer times of a neighbour, from shortly after the beginning of a case to its end. */
async function beside(
  who: Neighbour,
  name: string,
  door: Door,
): Promise<{ readonly felt: Felt; readonly rounds: number }> {
  const hostile = forkPart('hostile-main.ts', { name, door })
  try {
    await pause(2 * REST_MS)
    await who.felt()
    await pause(seconds * 1_000)
    const felt = await who.felt()
    // The hostile process may have much work, and has the lowest priority.
    hostile.send('stop')
    const [said] = (await Promise.race([once(hostile, 'message'), pause(2_000, [])])) as [{ rounds: number }?]
    return { felt, rounds: said?.rounds ?? 0 }
  } finally {
    await end(hostile)
    await pause(REST_MS)
  }
}

interface Neighbour extends AsyncDisposable {
  /** Since it was asked last. */
  felt(): Promise<Felt>
}

async function startNeighbour(port: number): Promise<Neighbour> {
  const child = forkPart('neighbour-main.ts', { port, password: PASSWORD })
  await once(child, 'message')
  return {
    async felt() {
      child.send('felt')
      const [felt] = await once(child, 'message')
      return felt as Felt
    },
    [Symbol.asyncDispose]: () => end(child),
  }
}

function forkPart(file: string, what: object): ChildProcess {
  return fork(join(import.meta.dirname, file), [JSON.stringify(what)], {
    execArgv: ['--conditions=@fairlead/source'],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill('SIGKILL')
  await once(child, 'exit')
}

async function fill(door: Door): Promise<void> {
  using client = await signIn(door)
  const KEYS_OF_ONE = 1_000
  for (let part = 0; part < KEYS / KEYS_OF_ONE; part += 1) {
    const pairs = Array.from({ length: KEYS_OF_ONE }, (_, n) => [`{${part}}key-number-${n}`, 'v'])
    await client.ask(encodeCommand(['MSET', ...pairs.flat()]))
  }
}
