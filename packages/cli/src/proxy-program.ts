import { fileURLToPath } from 'node:url'
import { nodeFlags } from './node-flags.ts'

/** How the proxy of a node is started: Node, its flags, the program. Run from source or published, as we are ourselves. */
export function proxyProgram(): readonly string[] {
  const main = fileURLToPath(import.meta.resolve('@fairlead/proxy/main'))
  const fromSource = main.endsWith('.ts') ? ['--conditions=@fairlead/source'] : []
  return [process.execPath, ...nodeFlags('proxy'), ...fromSource, main]
}
