import { readdir } from 'node:fs/promises'
import type { ShardSpec } from '@fairlead/api'
import { BUS_DISTANCE } from '../engine/engine-config.ts'
import { isCrowded } from './decide-crowd.ts'
import { readPeerUsers } from './read-peer-users.ts'

/**
 * What fills the bus of an engine in cluster mode, in words for `status_reason`; empty while there is room. Any user of the machine may connect there,
 * an engine closes no connection of its bus that says nothing, and has no command to end one: they take the files that new clients need.
 */
export async function readBusCrowd(
  { port, cluster }: Pick<ShardSpec, 'port' | 'cluster'>,
  pid: number,
  room: { readonly connected: number; readonly most: number },
): Promise<string> {
  if (!cluster) return ''
  const { length: files } = await readdir(`/proc/${pid}/fd`)
  if (!isCrowded(files, room.most) || isCrowded(room.connected, room.most)) return ''
  const users = [...(await readPeerUsers([port + BUS_DISTANCE])).values()]
  const [largest] = [...Map.groupBy(users, (uid) => uid)].toSorted(([, a], [, b]) => b.length - a.length)
  const whose = largest === undefined ? '' : `, ${largest[1].length} of user ${largest[0]}`
  return `connections to its bus (port ${port + BUS_DISTANCE}) take the files that new clients need (maxclients ${room.most}): end the processes that hold them${whose}`
}
