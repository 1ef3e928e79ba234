import { rewindRequest, takeGathered } from '@fairlead/engine'
import type { Connection } from '../connection/connection.ts'
import { isPublishing, publishTable } from '../connection/publish-barrier.ts'
import { stash } from '../connection/steer-client.ts'
import { table } from '../remembered/commands.ts'

/**
 * The bytes to read next. The beginning of a request may have been read before a publish barrier began, without a check whether it publishes: then
 * these are all its bytes, from the first one.
 */
export function withTable({ requests, owner, begun }: Connection, chunk: Buffer): Buffer {
  const wanted = owner.barrier.isOn ? publishTable : table
  const isUnseen = requests.table !== wanted && requests.command === undefined && begun.length > 0
  requests.table = wanted
  if (!isUnseen) return chunk
  rewindRequest(requests)
  return Buffer.concat([takeGathered(begun), chunk])
}

/** The request that begins at `begin` may publish: it waits, and with it what comes behind it. */
export function keepForBarrier(connection: Connection, chunk: Buffer, begin: number): void {
  connection.heldByBarrier = true
  keepBack(connection, chunk, begin)
}

/** Reads again from `begin`, where a request begins of which nothing is forwarded. */
export function keepBack(connection: Connection, chunk: Buffer, begin: number): void {
  rewindRequest(connection.requests)
  const begun = takeGathered(connection.begun)
  stash(connection, begin > 0 ? chunk.subarray(begin) : Buffer.concat([begun, chunk]))
}

/** Whether the request that was read last may publish when it is carried out. */
export function mayPublish({ requests, ahead }: Connection): boolean {
  const { command } = requests
  if (ahead.inTransaction) return ahead.publishes && command?.name === 'EXEC'
  return command !== undefined && isPublishing(command.name)
}
