import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { pidOfAgent } from './pid-of-agent.ts'

/** What happens to a server. `hang`: its way to PostgreSQL is stopped; `reset`: killed; `clock`: its wall clock is set back by an hour. */
export const blows = ['kill', 'stop', 'hang', 'reset', 'clock'] as const
export type Blow = (typeof blows)[number]

/** What a server does to itself at a point of its work, as `onEffect` names it. It is ordered with a file, and the file is gone when it happens. */
export interface Strike {
  /** '*': any. */
  readonly at: string
  /** The time that the point comes, from when this server sees the order: from 1. */
  readonly nth: number
  readonly how: Blow
  /** This one goes on. */
  readonly butNot: readonly number[]
  /** The agent of that home gets a signal at the same moment. */
  readonly agent: { readonly home: string; readonly signal: 'SIGKILL' | 'SIGSTOP' } | null
}

/** What a server that can be struck is told: where orders lie, and where the process that passes its words on to PostgreSQL has its id. */
export interface StrikeFiles {
  readonly order: string
  readonly relayPid: string
}

export interface Strikes {
  /** An effect is about to happen, or has. */
  at(point: string): void
  /** By its own clock, Unix milliseconds. */
  now(): number
}

const HOUR_MS = 3_600_000

/** Where the order was followed, and by which process. */
export function struckFile(order: string): string {
  return `${order}.struck`
}

/** Null when nothing can be ordered. */
export function createStrikes(files: string | undefined): Strikes | null {
  if (files === undefined) return null
  const { order, relayPid } = JSON.parse(files) as StrikeFiles
  let known = ''
  let came = 0
  let behindMs = 0
  return {
    at(point) {
      const text = readIfThere(order)
      if (text === '') return
      if (text !== known) came = 0
      known = text
      const { at, nth, how, butNot, agent } = JSON.parse(text) as Strike
      if ((at !== '*' && at !== point) || butNot.includes(process.pid) || ++came !== nth) return
      writeFileSync(struckFile(order), JSON.stringify({ pid: process.pid, point, how }))
      renameSync(order, `${order}.followed`)
      if (agent !== null) process.kill(pidOfAgent(agent.home), agent.signal)
      if (how === 'clock') behindMs = HOUR_MS
      else if (how === 'hang' || how === 'reset')
        process.kill(Number(readFileSync(relayPid, 'utf8')), how === 'hang' ? 'SIGSTOP' : 'SIGKILL')
      else process.kill(process.pid, how === 'kill' ? 'SIGKILL' : 'SIGSTOP')
    },
    now: () => Date.now() - behindMs,
  }
}

/** '' where there is none. */
function readIfThere(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}
