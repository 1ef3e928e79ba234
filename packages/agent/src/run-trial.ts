import { randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { TrialRequest, TrialResult, WantedShard } from '@fairlead/api'
import { connectEngine, type EngineConnection, readInfo } from '@fairlead/engine'
import { createPulse } from './ask-engine.ts'
import { decideAppendonly } from './decide-appendonly.ts'
import { engineTarget } from './engine-config.ts'
import { readLastWords } from './read-last-words.ts'
import type { ShardFolder } from './shard-folder.ts'
import { prepareFolder, type StartedProcess, startProcess } from './start-process.ts'
import { stopProcess } from './stop-process.ts'

const ANSWERS_WITHIN_MS = 10_000
const LOOK_EVERY_MS = 10
const HOST = '127.0.0.1'

/** What a trial leaves to the agent: nobody is followed, and nobody starts it again. */
const alone = { revision: 'trial', replicaOf: null, onCrash: 'wait', rdbVersionCheck: 'strict' } as const
const noData = { snapshot: false, aof: false, aofComplete: false, stoppedCleanly: false }

export interface Trial {
  readonly request: TrialRequest
  readonly program: string
  /** Is made, and is left for the caller to remove. */
  readonly folder: ShardFolder
  /** On 127.0.0.1. */
  readonly port: number
  readonly signal: AbortSignal
}

/**
 * Starts a build with the configuration that a shard would get, on an empty folder, and tries it: the version, and a
 * write and a read as the database's user. No process is left. Throws when aborted, or the folder cannot be written.
 */
export async function runTrial(trial: Trial): Promise<TrialResult> {
  const { folder, program } = trial
  const wish = wishOf(trial)
  const logFrom = await prepareFolder(folder, wish, decideAppendonly(wish, noData).atStart)
  const began = performance.now()
  const startMs = () => Math.round(performance.now() - began)
  const child = await startProcess(folder, program).catch((cause: unknown) => explain(cause))
  if (typeof child === 'string') return { ok: false, why: child, startMs: startMs() }
  try {
    const silence = await untilAnswers(child, wish, trial.signal)
    const ms = startMs()
    const fault = silence ?? (await findFault(wish))
    if (fault === null) return { ok: true, why: '', startMs: ms }
    const words = await readLastWords(folder.log, logFrom, [wish.adminPassword, wish.userPassword])
    return { ok: false, why: words === '' ? fault : `${fault}: ${words}`, startMs: ms }
  } finally {
    await end(child, wish, folder)
  }
}

function wishOf({ request, port }: Trial): WantedShard {
  const password = () => randomBytes(24).toString('base64url')
  return { ...alone, ...request, host: HOST, port, adminPassword: password(), userPassword: password() }
}

/** Null once it answers; otherwise why it does not. */
async function untilAnswers(
  child: StartedProcess,
  wish: WantedShard,
  signal: AbortSignal,
): Promise<string | null> {
  using pulse = createPulse()
  let end: string | null = null
  void child.ended.then((how) => {
    end = how
  })
  const until = performance.now() + ANSWERS_WITHIN_MS
  let last = 'it does not answer'
  while (performance.now() < until) {
    signal.throwIfAborted()
    const answer = await pulse.ask(engineTarget(wish))
    if (end !== null) return end
    if (answer.kind === 'pong') return null
    if (answer.kind === 'busy') last = answer.why
    await delay(LOOK_EVERY_MS, undefined, { signal })
  }
  return `did not answer within ${ANSWERS_WITHIN_MS} ms: ${last}`
}

/** What is wrong with an engine that answers; null: nothing. */
async function findFault(wish: WantedShard): Promise<string | null> {
  const { address, login } = engineTarget(wish)
  try {
    using admin = await connectEngine({ address, login })
    const fields = readInfo(await admin.info())
    const { flavour, version } = wish.build
    // Each flavour but redis also says a redis version, for clients that know no other.
    const found = fields[`${flavour}_version`] ?? 'none'
    if (found !== version) return `it says of itself that its ${flavour} version is ${found}, not ${version}`
    // In cluster mode it has no slots yet, and takes no key.
    if (fields['cluster_enabled'] === '1') return null
    using user = await connectEngine({ address, login: { username: 'default', password: wish.userPassword } })
    return await writeAndRead(user)
  } catch (cause) {
    return explain(cause)
  }
}

async function writeAndRead(user: EngineConnection): Promise<string | null> {
  const value = randomBytes(8).toString('hex')
  await user.call('SET', 'fairlead-trial', value)
  const read = await user.call('GET', 'fairlead-trial')
  return read === value ? null : `a key was written as ${value} and read as ${String(read)}`
}

/** Also when aborted: a trial leaves nothing behind. */
async function end(child: StartedProcess, wish: WantedShard, folder: ShardFolder): Promise<void> {
  await stopProcess({
    identity: child.identity,
    target: engineTarget(wish),
    save: false,
    data: folder.data,
    stopWithinMs: 2_000,
    hungAfterMs: 500,
    signal: new AbortController().signal,
  })
}

function explain(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause)
}
