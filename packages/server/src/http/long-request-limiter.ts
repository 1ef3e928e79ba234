import { Refusal } from '@fairlead/api'
import type { FastifyRequest } from 'fastify'
import { sourceOf } from '../identity/sessions/source-of.ts'

/** Concurrency limit for long-lived requests: event streams, and requests that wait for an upgrade. */
export interface LongRequestLimiter {
  /** Disposed of when it has ended. Throws `too_many_requests` where there are as many as there may be. */
  take(request: Pick<FastifyRequest, 'ip' | 'caller'>): Disposable
}

/** Limits of simultaneous long-lived requests. */
export interface PlaceLimits {
  readonly most: number
  /** From one source, see sourceOf. Other sources are to have some. */
  readonly mostOfSource: number
  /** Per signed-in user, over all sources. */
  readonly mostOfUser: number
}

const USEFUL = 1_000
const USEFUL_OF_USER = 50

/** Half of all connections, for the sake of short requests; one source gets half of these. */
export function placesOf(connections: number): PlaceLimits {
  const most = Math.min(USEFUL, Math.floor(connections / 2))
  const mostOfSource = Math.ceil(most / 2)
  return { most, mostOfSource, mostOfUser: Math.min(USEFUL_OF_USER, mostOfSource) }
}

/** Counts the places of each user and source. */
export function createLongRequestLimiter({
  most,
  mostOfSource,
  mostOfUser,
}: PlaceLimits): LongRequestLimiter {
  const users = createTally<number>()
  const sources = createTally<string>()
  let taken = 0
  const refuseBeyond = (count: number, limit: number, whose: string) => {
    if (count >= limit)
      throw new Refusal(
        'too_many_requests',
        `${limit} streams and waiting requests are open ${whose}; close one first, or try again later`,
      )
  }
  return {
    take(request) {
      const uid = request.caller?.user.uid ?? 0
      const source = sourceOf(request.ip)
      refuseBeyond(users.of(uid), mostOfUser, 'of this user')
      refuseBeyond(sources.of(source), mostOfSource, 'from the source of this one')
      refuseBeyond(taken, most, 'in all')
      const add = (change: number) => {
        users.add(uid, change)
        sources.add(source, change)
        taken += change
      }
      add(1)
      return { [Symbol.dispose]: () => add(-1) }
    },
  }
}

function createTally<Key>() {
  const counts = new Map<Key, number>()
  const of = (key: Key) => counts.get(key) ?? 0
  return {
    of,
    add(key: Key, change: number): void {
      const left = of(key) + change
      if (left === 0) counts.delete(key)
      else counts.set(key, left)
    },
  }
}
