import { accessSync, constants, statSync } from 'node:fs'
import { join } from 'node:path'
import { processesOfOthers } from '@fairlead/agent'

/**
 * If root runs this process on another user's home, becomes that user for good, with all processes that it
 * starts: server, agent, proxy, engines and their modules. Throws without a change if processes of this home
 * run as another user, or the owner cannot read the program.
 */
export function giveUpRoot(home: string): void {
  const owner = statSync(home, { throwIfNoEntry: false })
  if (process.geteuid?.() !== 0 || owner === undefined || owner.uid === 0) return
  const { uid } = owner
  // Gives up the groups of root, too.
  const gid = owner.gid === 0 ? uid : owner.gid
  const [other] = processesOfOthers(home, uid)
  if (other !== undefined)
    throw new Error(
      `FAIRLEAD_HOME ${home} belongs to user ${uid}, but process ${other.pid}, which serves from it, runs as user ${other.uid}: give the folder back (chown -R ${other.uid}), stop everything (fairlead down --all), and then give it to user ${uid}`,
    )
  const store = join(home, 'store.db')
  const keeper = statSync(store, { throwIfNoEntry: false })?.uid ?? uid
  if (keeper !== uid)
    throw new Error(
      `FAIRLEAD_HOME ${home} belongs to user ${uid}, but ${store} to user ${keeper}: give one of them all of it (chown -R ${uid}, or chown -R ${keeper})`,
    )
  process.setgroups?.([gid])
  process.setgid?.(gid)
  process.setuid?.(uid)
  mustReach(process.execPath, uid)
  mustReach(process.argv[1] ?? process.execPath, uid)
}

function mustReach(program: string, uid: number): void {
  try {
    accessSync(program, constants.R_OK)
  } catch (cause) {
    throw new Error(`user ${uid}, the owner of FAIRLEAD_HOME, cannot read ${program}`, { cause })
  }
}
