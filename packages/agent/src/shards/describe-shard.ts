import type { ShardReport } from '@fairlead/api'
import { passwordsMark, usersMark } from '@fairlead/engine'
import { decideSilent, type Silence } from '../engine/decide-silent.ts'
import { validDigests } from '../engine/engine-config.ts'
import { nameOfCertificate } from '../engine/shard-certificate.ts'
import type { ProcessRecord, WantedRecord } from '../folder/shard-folder.ts'
import type { DiskWatch } from '../folder/watch-disk.ts'
import type { TroubleWatch } from '../folder/watch-trouble.ts'
import { savingOf } from './keep-saving.ts'
import { noUsers } from './keep-users.ts'
import type { CrowdWatch } from './watch-crowd.ts'

/** State and reason of a shard in its report. */
export type View = Pick<ShardReport, 'state' | 'why'>

/** Limit of consecutive deaths without an answer. One may be accidental: no memory, or an occupied port. */
const FAILS_AFTER = 3

/** Reports the process, or the spec before the first process. */
export function describeShard(
  id: string,
  {
    wanted,
    last,
    view,
    silence,
    trouble,
    crowd,
    disk,
  }: {
    readonly wanted: WantedRecord
    readonly last: ProcessRecord | null
    readonly view: View
    readonly silence: Silence | null
    readonly trouble: TroubleWatch
    readonly crowd: Pick<CrowdWatch, 'of'>
    readonly disk: DiskWatch
  },
): ShardReport {
  const { revision, build, host, port } = last?.spec ?? wanted.spec
  const here = last?.identity && !last.ended ? last : null
  return {
    id,
    state: view.state,
    revision,
    build,
    host,
    port,
    pid: here?.identity?.pid ?? null,
    startedAt: here?.startedAt ?? null,
    crashes: last && last.order >= wanted.order ? last.crashes : 0,
    endedInOrder: last?.ended?.how === 'stopped',
    beganAfterDeath: here?.before.died ?? false,
    why: view.why !== '' || here === null ? view.why : crowd.of(here.startedAt),
    portTaken: view.state === 'failed' && last?.ended?.portTaken === true,
    failsToStart: last?.unanswered && last.unanswered.deaths >= FAILS_AFTER ? last.unanswered.why : null,
    memoryBytes: wanted.spec.memoryBytes,
    evictionPolicy: wanted.spec.evictionPolicy,
    passwords: passwordsMark(validDigests((here ?? wanted).spec)),
    saving: { ...savingOf((here ?? wanted).spec), ...(here?.changesSaving && { changing: true }) },
    users: usersMark((here ?? wanted).spec.users ?? noUsers),
    certificate: nameOfCertificate((last?.spec ?? wanted.spec).tls),
    asleep: view.state === 'exited' && wanted.spec.onCrash === 'wait',
    trouble: here ? trouble.of(here.startedAt) : '',
    cannotRead: here !== null && trouble.cannotRead(here.startedAt),
    cannotSend: here !== null && trouble.cannotSend(here.startedAt),
    ...(here && { lastLogLine: trouble.lastLineOf(here.startedAt) }),
    silence: here && silence ? describeSilence(silence) : null,
    disk: disk.last(),
  }
}

function describeSilence(silence: Silence): ShardReport['silence'] {
  const { forMs, activity, onDisk } = silence
  const verdict = decideSilent(silence)
  const { hung, isLong } = verdict.kind === 'leave' ? verdict : { hung: false, isLong: true }
  return { forMs, doing: activity.doing, hung, isLong, why: verdict.why, onDisk }
}

/** State before the first look, at the start of the agent. */
export function firstView(last: ProcessRecord | null): View {
  if (!last?.identity) return { state: 'starting', why: '' }
  if (last.ended) return { state: 'exited', why: last.ended.why }
  return { state: last.answeredAt === null ? 'starting' : 'running', why: '' }
}

/** State right after a put that requests a new process. */
export function viewOfPut(last: ProcessRecord | null): View {
  const runs = last?.identity && !last.ended
  return runs ? { state: 'stopping', why: 'makes room for a new process' } : { state: 'starting', why: '' }
}
