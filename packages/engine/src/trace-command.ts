import type { EngineAddress } from './engine-address.ts'
import { inSpan, isTraced } from './process/spans.ts'

/** Commands of which the second word says what they do. It is a word of ours, never a value. */
const containers: ReadonlySet<string> = new Set([
  ...['ACL', 'CLIENT', 'CLUSTER', 'COMMAND', 'CONFIG', 'FUNCTION', 'LATENCY', 'MEMORY', 'MODULE', 'SCRIPT'],
])

/** Asks an engine as a span of the current trace, if there is one. The span has the name of the command and no argument: arguments may be secrets, or keys. */
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

/** What users of the API give can be any word, and a whole line by mistake: what is no name of a command is not told. */
function nameOf([command = '', second]: readonly (string | Buffer)[]): string {
  const name = String(command).toUpperCase()
  if (!/^[A-Z][A-Z0-9._-]{0,31}$/.test(name)) return '(unknown)'
  return containers.has(name) && typeof second === 'string' ? `${name} ${second.toUpperCase()}` : name
}
