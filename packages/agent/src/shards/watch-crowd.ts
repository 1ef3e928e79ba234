import type { Logger } from 'pino'
import type { Probe } from '../engine/ask-engine.ts'
import { portsOf } from '../engine/engine-config.ts'
import type { ProcessRecord } from '../folder/shard-folder.ts'
import { readBusCrowd } from './bus-crowd.ts'
import { decideCrowd, isCrowded } from './decide-crowd.ts'
import { readClientList } from './read-client-list.ts'
import { readPeerUsers } from './read-peer-users.ts'

/** Keeps space at one engine's port: all users can connect, and engines wait for a login without limit. */
export interface CrowdWatch {
  /**
   * Looks at most once a second; ends connections if there are too many (decide-crowd.ts), or reports those
   * to its bus. Never throws because of the engine.
   */
  look(
    probe: Pick<Probe, 'call'>,
    last: Pick<ProcessRecord, 'startedAt' | 'spec' | 'identity'> | null,
    room: { readonly connected: number; readonly most: number | null },
  ): Promise<void>
  /** Describes the last minute's actions for the process started then; empty if there were none. */
  of(startedAt: number): string
}

const LOOK_EVERY_MS = 1_000
const BUS_EVERY_MS = 5_000
/** The list of ten thousand clients takes the engine about ten ms: it is read rarely if all are ours. */
const LIST_EVERY_MS = { least: 1_000, most: 60_000 }
const TOLD_FOR_MS = 60_000
const CUTS_AT_ONCE = 200

interface Seen {
  nextLook: number
  nextBus: number
  nextList: number
  pauseMs: number
  told: { readonly startedAt: number; readonly why: string; readonly until: number } | null
}

/** Periodically checks the connections of one shard, and closes foreign ones that crowd out its clients. */
export function watchCrowd(log: Logger): CrowdWatch {
  const seen: Seen = { nextLook: 0, nextBus: 0, nextList: 0, pauseMs: LIST_EVERY_MS.least, told: null }
  return {
    async look(probe, last, room) {
      const now = performance.now()
      if (last === null || now < seen.nextLook) return
      seen.nextLook = now + LOOK_EVERY_MS
      try {
        const { connected } = room
        const most = room.most ?? (await readMost(probe))
        if (!isCrowded(connected, most)) seen.pauseMs = LIST_EVERY_MS.least
        else if (now >= seen.nextList) await makeRoom(probe, last, most, seen, log)
        if (last.identity === null || now < seen.nextBus) return
        seen.nextBus = now + BUS_EVERY_MS
        const why = await readBusCrowd(last.spec, last.identity.pid, { connected, most })
        if (why !== '') tell(seen, last, why, log)
      } catch (cause) {
        // The probe reports whether the engine answers.
        log.debug({ err: cause }, 'the number of connections of an engine is not known')
      }
    },
    of: (startedAt) =>
      seen.told?.startedAt === startedAt && performance.now() < seen.told.until ? seen.told.why : '',
  }
}

/** Before Redis 7, INFO lacks it. */
async function readMost(probe: Pick<Probe, 'call'>): Promise<number> {
  return Number([await probe.call('CONFIG', 'GET', 'maxclients')].flat()[1])
}

async function makeRoom(
  probe: Pick<Probe, 'call'>,
  { startedAt, spec }: Pick<ProcessRecord, 'startedAt' | 'spec'>,
  most: number,
  seen: Seen,
  log: Logger,
): Promise<void> {
  const list = String(await probe.call('CLIENT', 'LIST'))
  // Read later than the list: by then a connection of the list has its user, or has ended.
  const { cut, whose } = decideCrowd(readClientList(list, await readPeerUsers(portsOf(spec))), most)
  seen.pauseMs = cut.length > 0 ? LIST_EVERY_MS.least : Math.min(LIST_EVERY_MS.most, seen.pauseMs * 2)
  seen.nextList = performance.now() + seen.pauseMs
  if (cut.length === 0) return
  for (let n = 0; n < cut.length; n += CUTS_AT_ONCE)
    await Promise.all(cut.slice(n, n + CUTS_AT_ONCE).map((id) => probe.call('CLIENT', 'KILL', 'ID', id)))
  const users = [...whose].map(
    ([uid, count]) => `${count} of ${uid === null ? 'an unknown user' : `user ${uid}`}`,
  )
  const why = `its port was nearly full (maxclients ${most}): connections that had not signed in were ended, ${users.join(', ')}`
  tell(seen, { startedAt, spec }, why, log)
}

function tell(
  seen: Seen,
  { startedAt, spec }: Pick<ProcessRecord, 'startedAt' | 'spec'>,
  why: string,
  log: Logger,
): void {
  if (seen.told === null || performance.now() >= seen.told.until)
    log.warn({ port: spec.port, why }, 'strangers fill the port of a shard')
  seen.told = { startedAt, why, until: performance.now() + TOLD_FOR_MS }
}
