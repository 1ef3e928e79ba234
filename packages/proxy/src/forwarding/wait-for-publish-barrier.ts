import { rewindRequest, takeGathered } from '@fairlead/engine'
import type { Connection } from '../connection/connection.ts'
import { needsSubscribers, publishTable } from '../connection/publish-barrier.ts'
import { stash } from '../connection/steer-client.ts'
import { table } from '../remembered/commands.ts'

/** Returns the bytes to read next: all of the request if it began unchecked before the publish barrier. */
export function withTable({ owner, input: { requests, begun } }: Connection, chunk: Buffer): Buffer {
  const wanted = owner.barrier.isOn ? publishTable : table
  const isUnseen = requests.table !== wanted && requests.command === undefined && begun.length > 0
  requests.table = wanted
  if (!isUnseen) return chunk
  rewindRequest(requests)
  return Buffer.concat([takeGathered(begun), chunk])
}

/** Keeps back the request at `begin`, which needs all subscribers, and everything after it. */
export function keepForBarrier(connection: Connection, chunk: Buffer, begin: number): void {
  connection.input.heldByBarrier = true
  keepBack(connection, chunk, begin)
}

/** Stashes everything from `begin` on, where a request begins that is not forwarded at all. */
export function keepBack(connection: Connection, chunk: Buffer, begin: number): void {
  rewindRequest(connection.input.requests)
  const begun = takeGathered(connection.input.begun)
  stash(connection, begin > 0 ? chunk.subarray(begin) : Buffer.concat([begun, chunk]))
}

/** True if the request read last may publish, or count subscribers, when it is executed. */
export function mayNeedSubscribers({ input: { requests }, session: { ahead } }: Connection): boolean {
  const { command } = requests
  if (ahead.inTransaction) return ahead.needsSubscribers && command?.name === 'EXEC'
  return command !== undefined && needsSubscribers(command.name)
}
