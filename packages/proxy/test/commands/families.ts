import { blocking, waiting } from './blocking.ts'
import { connection } from './connection.ts'
import { cursors } from './cursors.ts'
import { cluster, engineItself } from './engine-itself.ts'
import { pubSub } from './pub-sub.ts'
import { readCollections } from './read-collections.ts'
import { readValues } from './read-values.ts'
import { refused } from './refused.ts'
import type { Row } from './row.ts'
import { scripts } from './scripts.ts'
import { transactions } from './transactions.ts'
import { wholeDatabase } from './whole-database.ts'
import { writeCollections, writeStreams } from './write-collections.ts'
import { writeValues } from './write-values.ts'

/** Commands of which a handover means the same. */
export interface Family {
  readonly name: string
  /** What a handover in the middle of one means. */
  readonly plain: string
  /** What is different when the database is sharded. */
  readonly sharded: string
  readonly rows: readonly Row[]
}

export const families: readonly Family[] = [
  {
    name: 'Reads',
    plain:
      'Answered by the engine that was primary when it came; held until the new primary serves if it comes during the handover.',
    sharded: '',
    rows: [...readValues, ...readCollections],
  },
  {
    name: 'Writes',
    plain:
      'Carried out once: by the old primary, and then the new one has it, or by the new one. The answer is that of the one that did it.',
    sharded:
      'All keys of a command must be of one slot; else it is refused with `CROSSSLOT`, `MSETEX` too, in which valkey 9.1 does not look.',
    rows: [...writeValues, ...writeCollections, ...writeStreams],
  },
  {
    name: 'Blocking',
    plain:
      'The old primary gives it up, the client does not see that, and it is asked of the new one with the time that it has left.',
    sharded: '',
    rows: blocking,
  },
  {
    name: 'Waiting for replicas',
    plain: 'As blocking ones. What it counts are the replicas of the new primary.',
    sharded: 'The least number of all groups that the client has asked something.',
    rows: waiting,
  },
  {
    name: 'Transactions',
    plain: 'What is queued is queued at the new primary, and `EXEC` carries it out there, whole.',
    sharded: 'A transaction belongs to the slot of its first key.',
    rows: transactions,
  },
  {
    name: 'Scripts and functions',
    plain:
      'A script runs once, on one of the two. Functions are replicated, and scripts that clients gave the endpoint are at the new primary before they are.',
    sharded: 'Loaded, deleted and flushed in all groups; a call goes to the group of its first key.',
    rows: scripts,
  },
  {
    name: 'Pub/sub',
    plain: 'Subscriptions go along; messages of the old primary come before those of the new one.',
    sharded:
      'That the old primary has lost the slot of a shard channel (`sunsubscribe`) is not told: the client is subscribed at the new one.',
    rows: pubSub,
  },
  {
    name: 'Connection',
    plain:
      'The connection goes on as it was. `CLIENT ID` and the addresses of `CLIENT INFO` are those of its link, which is another one then. A client that tracks keys in RESP3 is told that all of them may have changed.',
    sharded: 'Said to all groups that the client has asked something, and to others when it asks them.',
    rows: connection,
  },
  {
    name: 'Cursors',
    plain: 'What is there all the time is told; what was told may be told again.',
    sharded: '',
    rows: cursors,
  },
  {
    name: 'The whole database',
    plain: 'As reads and writes.',
    sharded: 'Asked of all groups, one answer made of theirs.',
    rows: wholeDatabase,
  },
  {
    name: 'The engine itself',
    plain: 'Answered by the engine that was primary when it came. Of another version, it answers otherwise.',
    sharded: 'Answered by the first group.',
    rows: engineItself,
  },
  {
    name: 'Cluster',
    plain: 'As reads: engines that are in no cluster say so.',
    sharded: '',
    rows: cluster,
  },
  {
    name: 'Refused',
    plain:
      'The user of a database may not: `NOPERM`, or the error that an engine has for it. The connection goes on, also to the new primary.',
    sharded: '',
    rows: refused,
  },
]
