import { readdirSync, readFileSync } from 'node:fs'

/**
 * The agent's pid is not on record: the agent is the process that has the same home, and an agent's command
 * line.
 */
export function pidOfAgent(home: string): number {
  const isOurs = (pid: string) => {
    try {
      const [args, settings] = ['cmdline', 'environ'].map((file) =>
        readFileSync(`/proc/${pid}/${file}`, 'utf8').split('\0'),
      )
      return args?.at(-2) === 'agent' && settings?.includes(`FAIRLEAD_HOME=${home}`) === true
    } catch {
      return false // the process has ended in the meantime, or belongs to another user
    }
  }
  const pid = readdirSync('/proc').find((name) => /^\d+$/.test(name) && isOurs(name))
  if (pid === undefined) throw new Error(`no agent runs on ${home}`)
  return Number(pid)
}
