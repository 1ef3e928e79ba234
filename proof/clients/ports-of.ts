import { readFileSync } from 'node:fs'

/** The local ports of connections to a port of this machine: a client that reconnects has another one. */
export function portsOf(port: number): ReadonlySet<string> {
  const remote = `0100007F:${port.toString(16).toUpperCase().padStart(4, '0')}`
  const lines = readFileSync('/proc/net/tcp', 'utf8').split('\n').slice(1)
  const established = lines.map((line) => line.trim().split(/\s+/)).filter((words) => words[3] === '01')
  return new Set(established.filter((words) => words[2] === remote).map((words) => words[1] ?? ''))
}
