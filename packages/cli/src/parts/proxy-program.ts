import { fileURLToPath } from 'node:url'
import type { Config } from '@fairlead/server'
import { nodeFlags } from './node-flags.ts'

/**
 * How the proxy of a node is started: Node, its flags, the program and its arguments but for its home. Run from source or
 * published, as we are ourselves.
 */
export function proxyProgram({
  sentinelPort,
  proxyWorkers,
}: Pick<Config, 'sentinelPort' | 'proxyWorkers'>): readonly string[] {
  const main = fileURLToPath(import.meta.resolve('@fairlead/proxy/main'))
  const fromSource = main.endsWith('.ts') ? ['--conditions=@fairlead/source'] : []
  const sentinel = ['--sentinel-port', String(sentinelPort)]
  const workers = proxyWorkers === undefined ? [] : ['--workers', String(proxyWorkers)]
  return [process.execPath, ...nodeFlags('proxy'), ...fromSource, main, ...sentinel, ...workers]
}
