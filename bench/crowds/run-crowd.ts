import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { BuildName } from '../../proof/engine-pairs.ts'
import type { Fairlead } from '../../proof/start-fairlead.ts'
import type { Crowd, LoadOptions, LoadReport } from './crowd-load.ts'
import { type Run, spansAt } from './summarize-crowds.ts'

export interface Course {
  readonly what: string
  readonly crowd: Crowd
  readonly count: number
  readonly writers: number
  readonly perSecond: number
  readonly build: BuildName
  readonly groups: number
  readonly tls: boolean
}

const CALM_MS = 1_500
const WITHIN_MS = 120_000

/**
 * A database with writers and a crowd, restarted shard by shard with the roles preserved: each group hands over twice. Throws when
 * that does not complete.
 */
export async function runCrowd(fairlead: Fairlead, course: Course): Promise<Run> {
  const { api } = fairlead
  const { build, groups, tls } = course
  const created = await api.createDatabase({
    body: {
      ...{ name: 'crowd', memory_size: 0, replication: true, engine_version: build },
      ...(groups > 1 && { shards_count: groups }),
      ...(tls && { tls_mode: 'enabled' as const }),
    },
  })
  await fairlead.untilEnded(created.action_uid)
  const params = { uid: created.uid }
  const { port, authentication_engine_pass: password = '' } = await api.getDatabase({ params })
  const ca = tls ? (await api.getCertificates({})).ca_cert : null
  const { writers, perSecond, crowd, count } = course
  await using load = await openLoad({ port, password, ca, writers, perSecond, crowd, count })
  await pause(CALM_MS)
  const { action_uid } = await api.upgradeDatabase({
    params,
    body: { keep_engine_version: true, force_restart: true, preserve_roles: true, rollback_window: 0 },
  })
  const { status, error, certificates } = await fairlead.untilEnded(action_uid, WITHIN_MS)
  await pause(CALM_MS)
  const report = await load.stop()
  if (status !== 'completed') throw new Error(`${course.what}: the upgrade ended ${status}: ${error}`)
  await fairlead.untilEnded((await api.deleteDatabase({ params })).action_uid)
  const moments = certificates.map(({ at }) => Date.parse(at))
  return {
    what: course.what,
    perSecond: report.acked / report.seconds,
    errors: report.errors,
    writeStopsMs: certificates.flatMap(({ write_stop_ms }) => write_stop_ms ?? []),
    heldMs: certificates.map(({ held_ms }) => held_ms ?? 0),
    stallsMs: spansAt(report.slow, moments).atMs,
    gapsMs: spansAt(report.gaps, moments).atMs,
    calmMs: spansAt(report.slow, moments).calmMs,
  }
}

async function openLoad(options: LoadOptions): Promise<AsyncDisposable & { stop(): Promise<LoadReport> }> {
  const child: ChildProcess = fork(join(import.meta.dirname, 'load-main.ts'), [JSON.stringify(options)], {
    execArgv: ['--conditions=@fairlead/source'],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`the load ended with ${code}`)
  })
  ended.catch(() => undefined) // awaiting it reports it
  await Promise.race([once(child, 'message'), ended])
  return {
    async stop() {
      child.send('stop')
      const [{ report }] = (await Promise.race([once(child, 'message'), ended])) as [{ report: LoadReport }]
      return report
    },
    async [Symbol.asyncDispose]() {
      if (child.exitCode !== null || child.signalCode !== null) return
      child.kill('SIGKILL')
      await once(child, 'exit')
    },
  }
}
