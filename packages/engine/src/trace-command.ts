import type { EngineAddress } from './engine-address.ts'
import { inSpan, isTraced } from './process/spans.ts'

/** Commands whose second word is part of their name, never a value. */
const containers: ReadonlySet<string> = new Set([
  ...['ACL', 'CLIENT', 'CLUSTER', 'COMMAND', 'CONFIG', 'FUNCTION', 'LATENCY', 'MEMORY', 'MODULE', 'SCRIPT'],
])

/**
 * Asks an engine within a span of the current trace, if any. The span has the command's name but no argument,
 * which may be a secret or a key.
 */
export function traceCommand<T>(
  words: readonly (string | Buffer)[],
  address: EngineAddress,
  ask: () => Promise<T>,
): Promise<T> {
  if (!isTraced()) return ask()
  const attributes = {
    'db.operation.name': nameOf(words),
    'server.address': address.host,
    'server.port': address.port,
  }
  return inSpan({ name: nameOf(words), kind: 'client', attributes }, ask)
}

/** API users can send any word, even a whole line by mistake: it is omitted unless it is a command's name. */
function nameOf([command = '', second]: readonly (string | Buffer)[]): string {
  const name = String(command).toUpperCase()
  if (!/^[A-Z][A-Z0-9._-]{0,31}$/.test(name)) return '(unknown)'
  return containers.has(name) && typeof second === 'string' ? `${name} ${second.toUpperCase()}` : name
}
