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

/** Commands for which a handover has the same effect. */
export interface Family {
  readonly name: string
  /** The effect of a handover in the middle of such a command. */
  readonly plain: string
  /** The difference if the database is sharded. */
  readonly sharded: string
  readonly rows: readonly Row[]
}

export const families: readonly Family[] = [
  {
    name: 'Reads',
    plain:
      'A read is answered by the engine that is primary when it arrives. During the handover it is held until the new primary serves.',
    sharded: '',
    rows: [...readValues, ...readCollections],
  },
  {
    name: 'Writes',
    plain:
      'A write is executed once: by the old primary, which replicates it to the new one, or by the new one. The engine that executes it answers.',
    sharded:
      'All keys of a command must be of one slot; otherwise it is refused with `CROSSSLOT`. This includes `MSETEX`, whose keys valkey 9.1 does not check.',
    rows: [...writeValues, ...writeCollections, ...writeStreams],
  },
  {
    name: 'Blocking',
    plain:
      'The command ends at the old primary, which the client does not notice. It is sent again to the new primary, with the rest of its timeout.',
    sharded: '',
    rows: blocking,
  },
  {
    name: 'Waiting for replicas',
    plain:
      'As blocking commands. The replicas of the new primary are counted. As at a bare engine, a replica that begins to follow after the last write acknowledges it only with its next report, once a second: a command that waits for more than one replica then is answered up to a second later, and can time out. A database has one replica; a second one exists only during an upgrade.',
    sharded: 'The smallest number of the groups that got requests of the client.',
    rows: waiting,
  },
  {
    name: 'Transactions',
    plain: 'The queued commands are queued at the new primary, and `EXEC` executes all of them there.',
    sharded: 'A transaction belongs to the slot of its first key.',
    rows: transactions,
  },
  {
    name: 'Scripts and functions',
    plain:
      'A script runs once, on one of the two engines. Functions are replicated. Scripts that clients loaded through the endpoint are at the new primary before its first client.',
    sharded: 'Loaded, deleted and flushed in all groups; a call goes to the group of its first key.',
    rows: scripts,
  },
  {
    name: 'Pub/sub',
    plain: 'Subscriptions move. Messages of the old primary come before those of the new one.',
    sharded:
      'When the old primary loses the slot of a shard channel, the client gets no `sunsubscribe`: it is subscribed at the new primary.',
    rows: pubSub,
  },
  {
    name: 'Connection',
    plain:
      'The connection keeps its state. Its `CLIENT ID` is a number of the endpoint and stays the same, as do number and addresses in `CLIENT INFO`; in a transaction both are those of its link to the engine. `CLIENT TRACKING` with `REDIRECT` takes the number of the endpoint, if the client that has it has asked for it (`CLIENT ID`, `HELLO`) since the last handover. A client that tracks keys in RESP3 gets the message that all keys may have changed.',
    sharded:
      'The command is sent to all groups that got requests of the client, and to other groups with the first request.',
    rows: connection,
  },
  {
    name: 'Cursors',
    plain: 'A scan returns every element that exists during the whole scan. Elements may be returned twice.',
    sharded: '',
    rows: cursors,
  },
  {
    name: 'The whole database',
    plain: 'As for reads and writes.',
    sharded: 'The command is sent to all groups, and their answers become one answer.',
    rows: wholeDatabase,
  },
  {
    name: 'The engine itself',
    plain:
      'The engine that is primary when the command arrives answers. Another version may give another answer.',
    sharded: 'Answered by the first group.',
    rows: engineItself,
  },
  {
    name: 'Cluster',
    plain: 'As for reads. Engines without a cluster report that.',
    sharded: '',
    rows: cluster,
  },
  {
    name: 'Refused',
    plain:
      'The user of a database has no right to these commands: the answer is `NOPERM`, or the error that the engine has for it. The connection stays open, also in a handover.',
    sharded: '',
    rows: refused,
  },
]
