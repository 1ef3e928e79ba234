import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type Client, createClient, operatorOperations } from '@fairlead/api'
import type { Config } from '../config/config.ts'
import { findOperatorSocket, stateFolder } from '../config/sockets.ts'
import { type Verification, verifyAudit } from '../identity/audit/verify-audit.ts'
import { socketTransport } from '../nodes/socket-transport.ts'
import { openStore, storePlace } from '../store/open-store.ts'
import { createSecretBox, readStoreKey } from '../store/secret-box.ts'

/** The operations of the operator's socket, for the command line. */
export type OperatorLink = Client<typeof operatorOperations>

/** No server runs on this home. */
export class ServerUnreachable extends Error {
  override readonly name = 'ServerUnreachable'
}

/** Verifying a long audit takes minutes. */
const ANSWER_WITHIN_MS = 10 * 60_000

/** Speaks to this machine's server through its socket. Throws ServerUnreachable or ApiError. */
export function connectOperator(home: string): OperatorLink {
  const unreachable = (cause: Error) =>
    new ServerUnreachable(`no server answers on ${home}; start it with npm start, or fairlead up`, { cause })
  const transport = socketTransport(findOperatorSocket(home), { withinMs: ANSWER_WITHIN_MS, unreachable })
  return createClient(operatorOperations, transport)
}

/** Verifies the audit, with or without a running server. */
export async function verifyAuditOf(
  config: Pick<Config, 'home' | 'storeKey' | 'store' | 'storePasswordFile'>,
  head: string | undefined,
): Promise<Verification> {
  try {
    const body = head === undefined ? {} : { head }
    const { fault, ...seen } = await connectOperator(config.home).verifyAudit({ body })
    return { ...seen, fault }
  } catch (cause) {
    if (!(cause instanceof ServerUnreachable)) throw cause
    return verifyAtRest(config, head)
  }
}

async function verifyAtRest(
  config: Pick<Config, 'home' | 'storeKey' | 'store' | 'storePasswordFile'>,
  head: string | undefined,
): Promise<Verification> {
  const { home, storeKey } = config
  const folder = stateFolder(home)
  const place = storePlace(config, folder)
  if (typeof place === 'string' && !existsSync(place)) throw new Error(`there is no store at ${place}`)
  const box = createSecretBox(storeKey ?? readStoreKey(join(folder, 'store.key')))
  await using store = await openStore(place, () => box)
  return await verifyAudit(store.db, head)
}
