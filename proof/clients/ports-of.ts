import { existsSync, readFileSync } from 'node:fs'

/** The local ports of connections to a port of any machine: a client that reconnects has another one. */
export function portsOf(port: number): ReadonlySet<string> {
  const remote = `:${port.toString(16).toUpperCase().padStart(4, '0')}`
  const lines = ['/proc/net/tcp', '/proc/net/tcp6']
    .filter((table) => existsSync(table))
    .flatMap((table) => readFileSync(table, 'utf8').split('\n').slice(1))
  const established = lines.map((line) => line.trim().split(/\s+/)).filter((words) => words[3] === '01')
  return new Set(established.filter((words) => words[2]?.endsWith(remote)).map((words) => words[1] ?? ''))
}
