import type {
  ClientList,
  FormerUse,
  HoldResult,
  MissingAddress,
  SwitchResult,
  TakenScripts,
} from '@fairlead/api/of-proxies'
import type { EndpointView } from '../endpoint/endpoint.ts'
import { firstNotDrained } from '../handover/first-not-drained.ts'
import type { TapePart } from '../traffic/recording.ts'

/** Combines the reports of the parts of an endpoint. There is at least one part. */

/** Combines holds: held if all parts are; the hold ends with the last one. */
export function combineHolds(parts: readonly HoldResult[]): HoldResult {
  return {
    drained: parts.every(({ drained }) => drained),
    ms: most(parts, ({ ms }) => ms),
    ...firstNotDrained(parts),
    late: sum(parts, ({ late }) => late),
    tries: most(parts, ({ tries = 0 }) => tries),
  }
}

/** Combines switches: sums of counts, maximum of times. */
export function combineSwitches(parts: readonly SwitchResult[]): SwitchResult {
  return {
    moved: sum(parts, ({ moved }) => moved),
    later: sum(parts, ({ later }) => later),
    closed: sum(parts, ({ closed }) => closed),
    heldMs: most(parts, ({ heldMs }) => heldMs),
    clients: sum(parts, ({ clients = 0 }) => clients),
    requests: sum(parts, ({ requests = 0 }) => requests),
    longestWaitMs: most(parts, ({ longestWaitMs = 0 }) => longestWaitMs),
  }
}

/** Combines reports. Workers hold, release and switch together, so the maximum of these values counts. */
export function combineViews(
  where: Pick<EndpointView, 'host' | 'port' | 'upstream' | 'shards'>,
  parts: readonly EndpointView[],
): EndpointView {
  return {
    ...where,
    isHeld: parts.some(({ isHeld }) => isHeld),
    connections: sum(parts, ({ connections }) => connections),
    commands: sum(parts, ({ commands }) => commands),
    traffic: combineTraffic(parts.map(({ traffic }) => traffic)),
    heldMsTotal: most(parts, ({ heldMsTotal }) => heldMsTotal),
    heldMsLast: most(parts, ({ heldMsLast }) => heldMsLast),
    repoints: most(parts, ({ repoints }) => repoints),
    failedHolds: most(parts, ({ failedHolds }) => failedHolds),
    former: combineUses(parts.map(({ former = [] }) => former)),
    behind: parts.flatMap(({ behind }) => behind),
    errors: sum(parts, ({ errors }) => errors),
    lastError: parts.find(({ lastError }) => lastError !== '')?.lastError ?? '',
    doubted: {
      count: sum(parts, ({ doubted }) => doubted?.count ?? 0),
      why: parts.find(({ doubted }) => doubted !== undefined && doubted.why !== '')?.doubted?.why ?? '',
    },
  }
}

function combineTraffic(parts: readonly EndpointView['traffic'][]): EndpointView['traffic'] {
  const [first] = parts
  if (first === undefined) throw new Error('an endpoint has at least one part')
  return {
    since: most(parts, ({ since }) => since),
    commands: sum(parts, ({ commands }) => commands),
    bytesIn: sum(parts, ({ bytesIn }) => bytesIn),
    bytesOut: sum(parts, ({ bytesOut }) => bytesOut),
    latencyUs: sum(parts, ({ latencyUs }) => latencyUs),
    latencies: first.latencies.map((_, n) => sum(parts, ({ latencies }) => latencies[n] ?? 0)),
  }
}

/** Combines scripts; several workers may have the same one. */
export function combineScripts(parts: readonly TakenScripts[]): TakenScripts {
  return {
    flushed: parts.some(({ flushed }) => flushed),
    scripts: [...new Set(parts.flatMap(({ scripts }) => scripts))],
  }
}

/** Combines addresses where some worker cannot listen, each once. */
export function combineMissing(parts: readonly (readonly MissingAddress[])[]): readonly MissingAddress[] {
  return [...new Map(parts.flat().map((one) => [`${one.host} ${one.port}`, one])).values()]
}

/** Combines the uses of former places, which all workers report in the same order. */
function combineUses(parts: readonly (readonly FormerUse[])[]): FormerUse[] {
  const [first = []] = parts
  return first.map((use, n) => ({
    ...use,
    connections: sum(parts, (part) => part[n]?.connections ?? 0),
    quietMs: Math.min(...parts.map((part) => part[n]?.quietMs ?? 0)),
  }))
}

/** Combines client lists, oldest connection first, at most `limit` clients. */
export function combineClients(limit: number, parts: readonly ClientList[]): ClientList {
  const clients = parts.flatMap((part) => part.clients)
  return {
    connections: sum(parts, ({ connections }) => connections),
    clients: clients.toSorted((a, b) => a.connectedAt - b.connectedAt).slice(0, limit),
  }
}

/** Adds buckets that begin at the same time. */
export function combineTapes(parts: readonly (TapePart | null)[]): TapePart | null {
  const tapes = parts.filter((part) => part !== null)
  if (tapes.length === 0) return null
  const first = Math.min(...tapes.map((tape) => tape.first))
  const length = most(tapes, (tape) => tape.first + tape.replies.length) - first
  const add = (of: (tape: TapePart) => readonly number[]) =>
    Array.from({ length }, (_, n) => sum(tapes, (tape) => of(tape)[n + first - tape.first] ?? 0))
  return {
    first,
    beganMs: Math.min(...tapes.map(({ beganMs }) => beganMs)),
    heldMs: most(tapes, ({ heldMs }) => heldMs),
    replies: add(({ replies }) => replies),
    held: add(({ held }) => held),
    errors: add(({ errors }) => errors),
  }
}

function sum<T>(parts: readonly T[], of: (part: T) => number): number {
  return parts.reduce((total, part) => total + of(part), 0)
}

function most<T>(parts: readonly T[], of: (part: T) => number): number {
  return Math.max(...parts.map(of))
}
