import type { Node } from '@fairlead/api'
import type { Context } from '../../link/open-context.ts'
import { CommandFault } from '../../output/command-fault.ts'
import { type Column, printList, printOne } from '../../output/print-answer.ts'
import { showBytes } from '../../output/show-quantity.ts'

const columns: readonly Column<Node>[] = [
  { name: 'uid', value: ({ uid }) => uid },
  { name: 'addr', value: ({ addr }) => addr },
  {
    name: 'status',
    value: ({ status }) => status,
    shown: ({ status }, { glyphs }) => `${glyphs.dot} ${status}`,
    style: ({ status }) => (status === 'active' ? 'good' : 'bad'),
  },
  { name: 'cores', value: ({ cores = null }) => cores },
  { name: 'shards', value: ({ shard_count = null }) => shard_count },
  {
    name: 'free_memory',
    value: ({ free_memory = null }) => free_memory,
    shown: ({ free_memory: free, total_memory: total }) =>
      free === undefined || total === undefined ? '' : `${showBytes(free)} of ${showBytes(total)}`,
  },
  {
    name: 'free_disk',
    value: ({ free_disk = null }) => free_disk,
    shown: ({ free_disk }) => (free_disk === undefined ? '' : showBytes(free_disk)),
  },
  {
    name: 'wall',
    value: ({ engine_wall }) => engine_wall,
    shown: ({ engine_wall }) => (engine_wall ? 'yes' : 'no'),
    isWide: true,
  },
  { name: 'software_version', value: (row) => row.software_version, isWide: true },
]
const nameOf = ({ uid }: Node) => String(uid)

/** Columns of a single node. */
const details: readonly Column<Node>[] = [
  ...columns.map(({ isWide: _, ...column }) => column),
  { name: 'no_wall_because', value: (row) => row.engine_wall_missing, style: () => 'warn' },
  {
    name: 'builds',
    value: ({ supported_database_versions: builds }) =>
      builds.map(({ db_type, version }) => `${db_type} ${version}`).join(', '),
  },
  { name: 'shard_list', value: ({ shard_list }) => shard_list?.join(' ') ?? null },
]

/** Prints the nodes. */
export async function listNodes({ terminal, answer, link }: Context): Promise<void> {
  const rows = await (await link()).api.listNodes({})
  printList(terminal, { rows, columns, nameOf }, answer)
}

/** Prints one node, by its uid. */
export async function showNode({ terminal, answer, link }: Context, word: string): Promise<void> {
  const [, uid] = /^(?:node:)?(\d{1,9})$/.exec(word) ?? []
  if (uid === undefined) throw new CommandFault('usage', `${word} is no uid of a node: fairlead nodes list`)
  const row = await (await link()).api.getNode({ params: { uid: Number(uid) } })
  printOne(terminal, { row, columns: details, nameOf }, answer)
}
