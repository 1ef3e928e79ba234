import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { Action } from '@fairlead/api'
import type { Login } from '../../proof/clients/clients.ts'
import type { BuildName } from '../../proof/engine-pairs.ts'
import { type Fairlead, startFairlead } from '../../proof/start-fairlead.ts'
import { until } from '../../proof/until.ts'
import { untilAction } from '../../proof/way-back.ts'
import type { LoadReport, Pace } from './paced-load.ts'
import { type Run, stallsOf } from './summarize-clients.ts'

export interface Course {
  readonly library: string
  readonly from: BuildName
  readonly to: BuildName
  readonly pace: Pace
}

/** For how long the load runs in each state. */
const CALM_SECONDS = 2
const WITHIN_MS = 60_000

/**
 * A database under the load of one library through an upgrade, its rollback, and an upgrade that preserves roles: four handovers.
 * Throws when one of them does not complete.
 */
export async function runClients({ library, from, to, pace }: Course): Promise<Run> {
  await using fairlead = await startFairlead()
  const { api } = fairlead
  const created = await api.createDatabase({
    body: { name: 'clients', memory_size: 0, replication: true, engine_version: from },
  })
  await fairlead.untilEnded(created.action_uid)
  const { uid } = created
  const { port, authentication_engine_pass: password = '' } = await api.getDatabase({ params: { uid } })
  await using load = openLoad(library, { host: '127.0.0.1', port, password }, pace)
  const writeOn = () => load.untilMore(CALM_SECONDS * pace.perSecond)
  await writeOn()
  const certificates = await goThere(fairlead, { uid, to, writeOn })
  await writeOn()
  const report = await load.stop()
  const { acked, seconds, errors, reconnects, lost, twice, gaps } = report
  const moved = certificates.map(({ at }) => Date.parse(at))
  const { stallsMs, calmMs } = stallsOf(gaps, moved)
  const heldMs = certificates.map(({ held_ms }) => held_ms ?? 0)
  return {
    library,
    asked: pace.perSecond,
    acked,
    seconds,
    errors,
    reconnects,
    lost,
    twice,
    stallsMs,
    heldMs,
    calmMs,
  }
}

/** The certificates of the handovers, in their order. */
async function goThere(
  fairlead: Fairlead,
  {
    uid,
    to,
    writeOn,
  }: { readonly uid: number; readonly to: BuildName; readonly writeOn: () => Promise<void> },
): Promise<Action['certificates']> {
  const { api } = fairlead
  const { action_uid: first = '' } = await api.upgradeDatabase({
    params: { uid },
    body: { engine_version: to, rollback_window: 'until_finalized' },
  })
  await untilAction(fairlead, first, 'it can be rolled back', ({ needs_person, rollback_eligible }) => {
    return needs_person && rollback_eligible === true
  })
  await writeOn()
  await api.rollbackAction({ params: { uid: first } })
  const back = await fairlead.untilEnded(first, WITHIN_MS)
  if (back.certificates.length !== 2) throw new Error(`it was not rolled back: ${back.error}`)
  await writeOn()
  const { action_uid: second } = await api.upgradeDatabase({
    params: { uid },
    body: { engine_version: to, preserve_roles: true, rollback_window: 0 },
  })
  const last = await fairlead.untilEnded(second, WITHIN_MS)
  if (last.status !== 'completed') throw new Error(`it was not upgraded: ${last.error}`)
  return [...back.certificates, ...last.certificates]
}

interface LoadProcess extends AsyncDisposable {
  /** Waits for this many more answers, or for as long as they may take. */
  untilMore(count: number): Promise<void>
  stop(): Promise<LoadReport>
}

function openLoad(library: string, login: Login, pace: Pace): LoadProcess {
  const child: ChildProcess = fork(
    join(import.meta.dirname, 'load-main.ts'),
    [JSON.stringify({ library, login, pace })],
    { execArgv: ['--conditions=@fairlead/source'], stdio: ['ignore', 'ignore', 'inherit', 'ipc'] },
  )
  let answers = 0
  const { promise: reported, resolve, reject } = Promise.withResolvers<LoadReport>()
  reported.catch(() => undefined) // stopping it reports it
  child.on('message', (news: { readonly answers?: number; readonly report?: LoadReport }) => {
    answers = news.answers ?? answers
    if (news.report !== undefined) resolve(news.report)
  })
  child.on('exit', (code) => reject(new Error(`the load of ${library} ended with ${code}`)))
  return {
    async untilMore(count) {
      const goal = answers + count
      const arrived = async () => child.exitCode !== null || answers >= goal
      await until(`${count} more answers`, arrived, { withinMs: WITHIN_MS })
      if (child.exitCode !== null) await reported
    },
    async stop() {
      child.send('stop')
      const report = await reported
      child.disconnect()
      return report
    },
    async [Symbol.asyncDispose]() {
      if (child.exitCode !== null || child.signalCode !== null) return
      child.kill('SIGKILL')
      await once(child, 'exit')
    },
  }
}
