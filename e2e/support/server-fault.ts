import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { pidOfAgent } from './pid-of-agent.ts'

/**
 * What happens to a server. `hang`: its relay to PostgreSQL is stopped; `reset`: the relay is killed;
 * `clock`: its wall clock is set back by an hour.
 */
export const faultKinds = ['kill', 'stop', 'hang', 'reset', 'clock'] as const
export type FaultKind = (typeof faultKinds)[number]

/**
 * What a server does to itself at a point of its work, as `onEffect` names it. A file orders it, and is
 * deleted when it happens.
 */
export interface FaultOrder {
  /** '*': any. */
  readonly at: string
  /** Which occurrence of the point, from 1, since this server has seen the order. */
  readonly nth: number
  readonly how: FaultKind
  /** Not this server: another one must follow the order. */
  readonly butNot: readonly number[]
  /** The agent of that home gets a signal at the same moment. */
  readonly agent: { readonly home: string; readonly signal: 'SIGKILL' | 'SIGSTOP' } | null
}

/** The files of a server that can be faulty: its orders, and the pid of its relay to PostgreSQL. */
export interface FaultFiles {
  readonly order: string
  readonly relayPid: string
}

export interface FaultPoints {
  /** An effect is about to happen, or has happened. */
  at(point: string): void
  /** By its own clock, Unix milliseconds. */
  now(): number
}

const HOUR_MS = 3_600_000

/** The point at which the order was followed, and the process that followed it. */
export function injectedFile(order: string): string {
  return `${order}.injected`
}

/** Null when nothing can be ordered. */
export function createFaultPoints(files: string | undefined): FaultPoints | null {
  if (files === undefined) return null
  const { order, relayPid } = JSON.parse(files) as FaultFiles
  let known = ''
  let came = 0
  let behindMs = 0
  return {
    at(point) {
      const text = readIfThere(order)
      if (text === '') return
      if (text !== known) came = 0
      known = text
      const { at, nth, how, butNot, agent } = JSON.parse(text) as FaultOrder
      if ((at !== '*' && at !== point) || butNot.includes(process.pid) || ++came !== nth) return
      writeFileSync(injectedFile(order), JSON.stringify({ pid: process.pid, point, how }))
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

/** '' if there is none. */
function readIfThere(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}
