import { readdir } from 'node:fs/promises'
import type { ShardSpec } from '@fairlead/api'
import { BUS_DISTANCE } from '../engine/engine-config.ts'
import { isCrowded } from './decide-crowd.ts'
import { readPeerUsers } from './read-peer-users.ts'

/**
 * Returns a sentence for `status_reason` with the user that fills the bus of an engine in cluster mode; empty
 * while there is space. Any user of the machine can connect to the bus. An engine does not close silent bus
 * connections, and has no command for it: they take the file handles that new clients need.
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
