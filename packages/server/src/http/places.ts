import { Refusal } from '@fairlead/api'
import type { FastifyRequest } from 'fastify'
import type { SourceOf } from '../identity/sessions/sources.ts'
import { requesterOf } from './requester-of.ts'

/** Concurrency limit for long-lived requests: event streams, and requests that wait for an upgrade. */
export interface Places {
  /** Dispose of the result at the request's end. Throws `too_many_requests` at a limit. */
  take(request: FastifyRequest): Promise<Disposable>
}

/** Limits of simultaneous long-lived requests. */
export interface PlaceLimits {
  readonly most: number
  /** Per source: an address, or a local user. Leaves places for other sources. */
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

/** `sourceOf` returns a request's source, which may take the kernel some time. */
export function createPlaces({ most, mostOfSource, mostOfUser }: PlaceLimits, sourceOf: SourceOf): Places {
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
    async take(request) {
      const uid = request.caller?.user.uid ?? 0
      // Before the slow look-up of the source.
      refuseBeyond(users.of(uid), mostOfUser, 'of this user')
      const source = await sourceOf(requesterOf(request))
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
