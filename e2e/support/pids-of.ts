import { readdirSync, readlinkSync } from 'node:fs'

/** The processes of the engines and of the proxy of this home: each works in a folder of its own. */
export function pidsOf(home: string): readonly number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && worksIn(home, name))
    .map(Number)
    .toSorted((a, b) => a - b)
}

function worksIn(folder: string, pid: string): boolean {
  try {
    const cwd = readlinkSync(`/proc/${pid}/cwd`)
    // The server, where it is a user of its own, works in its folder.
    return cwd.startsWith(folder) && !cwd.endsWith('/server/own')
  } catch {
    return false // it has ended in the meantime
  }
}
