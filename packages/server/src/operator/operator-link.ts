import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type Client, createClient, operatorOperations } from '@fairlead/api'
import { type Verification, verifyAudit } from '../audit/audit-service.ts'
import { operatorSocket } from '../config.ts'
import { socketTransport } from '../nodes/socket-transport.ts'
import { openStore } from '../store/open-store.ts'

export type OperatorLink = Client<typeof operatorOperations>

/** No server runs on this home. */
export class ServerUnreachable extends Error {
  override readonly name = 'ServerUnreachable'
}

/** A long audit takes a while to walk. */
const ANSWER_WITHIN_MS = 10 * 60_000

/** Speaks to the server of this machine through its socket. Throws ServerUnreachable, or ApiError when it declines. */
export function connectOperator(home: string): OperatorLink {
  const unreachable = (cause: Error) =>
    new ServerUnreachable(`no server answers on ${home}; start it with npm start, or fairlead up`, { cause })
  const transport = socketTransport(operatorSocket(home), { withinMs: ANSWER_WITHIN_MS, unreachable })
  return createClient(operatorOperations, transport)
}

/** Verifies the audit of this home, whether its server runs or not. */
export async function verifyAuditOf(home: string, head: string | undefined): Promise<Verification> {
  try {
    const seen = await connectOperator(home).verifyAudit({ body: head === undefined ? {} : { head } })
    return { ...seen, fault: seen.fault }
  } catch (cause) {
    if (!(cause instanceof ServerUnreachable)) throw cause
    return verifyAtRest(join(home, 'store.db'), head)
  }
}

async function verifyAtRest(file: string, head: string | undefined): Promise<Verification> {
  if (!existsSync(file)) throw new Error(`there is no store at ${file}`)
  await using store = await openStore(file)
  return await verifyAudit(store.db, head)
}
