import { fileURLToPath } from 'node:url'
import type { Config } from '@fairlead/server'
import { nodeFlags } from './node-flags.ts'

/**
 * The command of a node's proxy without its home: Node, flags, program and arguments. Runs from source or
 * published, like this process.
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
