import { ApiError } from '@fairlead/api'
import { type EngineConnection, EngineError, EngineUnreachable } from '@fairlead/engine'
import { type Database, hasEndpoint } from '../../core/state/database.ts'
import { endpointName } from '../../core/state/endpoint-reach.ts'
import { AgentUnreachable } from '../../nodes/agent-link.ts'
import type { EndpointProxy } from '../turn/ports.ts'

/** Scripts per batch: between batches the engine does other work. */
const AT_ONCE = 64

/**
 * Gives an engine the scripts that clients of the endpoint have loaded: all, or those since the last call
 * (`SCRIPT LOAD` and `EVAL` are not replicated). Best effort: clients reload a missing script. Never rejects.
 */
export async function carryScripts(
  database: Database,
  engine: EngineConnection,
  { all }: { readonly all: boolean },
  { proxy }: EndpointProxy<'takeScripts'>,
): Promise<void> {
  if (!hasEndpoint(database) || database.endpointPort === null) return
  const { host, port } = engine.address
  try {
    const { flushed, scripts } = await proxy.takeScripts({
      params: { id: endpointName(database.uid) },
      body: { upstream: { host, port }, all },
    })
    if (flushed) await engine.call('SCRIPT', 'FLUSH')
    for (let at = 0; at < scripts.length; at += AT_ONCE)
      await Promise.all(scripts.slice(at, at + AT_ONCE).map((script) => load(engine, script)))
  } catch (cause) {
    const isExpected = [ApiError, AgentUnreachable, EngineError, EngineUnreachable].some(
      (kind) => cause instanceof kind,
    )
    if (!isExpected) throw cause
  }
}

async function load(engine: EngineConnection, script: string): Promise<void> {
  try {
    await engine.call('SCRIPT', 'LOAD', Buffer.from(script, 'base64'))
  } catch (cause) {
    // A newer engine may refuse a script that an older one accepted.
    if (!(cause instanceof EngineError)) throw cause
  }
}
