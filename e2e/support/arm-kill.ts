import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** The process to kill, and the point of an upgrade at which: "after demote", as `onEffect` names it. */
export interface Kill {
  readonly victim: 'server' | 'agent' | 'proxy' | `s${number}`
  readonly when: string
}

/** The server of this home, a crash-main.ts, kills it the next time that it comes to that point. */
export function armKill(home: string, kill: Kill): void {
  const whole = `${fileIn(home)}-new`
  writeFileSync(whole, JSON.stringify(kill))
  renameSync(whole, fileIn(home))
}

/** The armed victim if this is its point; it is armed no longer then. */
export function takeKill(home: string, point: string): Kill['victim'] | undefined {
  const file = fileIn(home)
  if (!existsSync(file)) return undefined
  const { victim, when } = JSON.parse(readFileSync(file, 'utf8')) as Kill
  if (when !== point) return undefined
  rmSync(file)
  return victim
}

/** True until the armed kill has happened. */
export const isArmed = (home: string) => existsSync(fileIn(home))

const fileIn = (home: string) => join(home, 'armed-kill')
