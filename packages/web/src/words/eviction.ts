import type { Database } from '@fairlead/api'

type Policy = Database['eviction_policy']

const evictions: Readonly<Record<Policy, string>> = {
  noeviction: 'nothing: writes are refused when the memory is full',
  'allkeys-lru': 'keys that were not used for the longest time',
  'allkeys-lfu': 'keys that are used the least',
  'allkeys-random': 'any keys',
  'volatile-lru': 'keys with a time to live that were not used for the longest time',
  'volatile-lfu': 'keys with a time to live that are used the least',
  'volatile-random': 'any keys with a time to live',
  'volatile-ttl': 'keys whose time to live ends first',
}

/** The policies, in the order of forms. */
export const evictionNames = Object.keys(evictions) as readonly Policy[]

/** A policy with the name in the API and command line, and what it drops: the same text everywhere. */
export function sayEviction(policy: Policy): string {
  return `${policy}: ${evictions[policy]}`
}

/** The policy of this name; undefined: there is none. */
export function evictionIn(name: string): Policy | undefined {
  return evictionNames.find((one) => one === name)
}
