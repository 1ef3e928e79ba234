import type { Way } from './run-rows.ts'

/** An intended difference between an endpoint's reply and that of a single engine. */
export interface Documented {
  /** The commands and moments (`ways`) that it concerns. */
  readonly commands: readonly string[]
  readonly ways: readonly Way[]
  /** The first reply of such a run that differs. */
  readonly got: RegExp
  readonly means: string
}

const always: readonly Way[] = ['before', 'cut', 'held', 'transaction', 'blocked']

const notInside = /^-ERR \w+ cannot be part of a transaction in a sharded database\r\n/

const watched: Documented = {
  commands: ['WATCH', 'UNWATCH'],
  ways: ['before', 'transaction'],
  got: /^(\*-1|_)\r\n/,
  means:
    'Keys that are watched when the role moves count as changed: the next `EXEC` answers nil, and the client has to try again.',
}

const clients: Documented = {
  commands: ['CLIENT LIST', 'CLIENT KILL'],
  ways: ['before', 'cut', 'held'],
  got: /^(:\d+\r\n|\$\d+\r\nid=|=\d+\r\ntxt:id=)/,
  means:
    'Answered by the endpoint with the connections of the same user, if it has the right to `CLIENT ID` ([clients of an endpoint](../explain/endpoint.md#what-clients-see-of-each-other)). Refused by the engine in `MULTI`, after `CLIENT REPLY OFF`, and with more than 64 arguments.',
}

export const plainDifferences: readonly Documented[] = [watched, clients]

export const shardedDifferences: readonly Documented[] = [
  watched,
  clients,
  {
    commands: [
      ...['ASKING', 'AUTH', 'CLIENT', 'CLUSTER', 'CLUSTERSCAN', 'DBSIZE', 'FLUSHALL', 'FLUSHDB', 'FUNCTION'],
      ...['HELLO', 'KEYS', 'MONITOR', 'PSUBSCRIBE', 'PSYNC', 'PUNSUBSCRIBE', 'RANDOMKEY', 'READONLY'],
      ...['READWRITE', 'REPLCONF', 'SCAN', 'SCRIPT', 'SELECT', 'SUBSCRIBE', 'SYNC', 'UNSUBSCRIBE', 'UNWATCH'],
      ...['WAIT', 'WAITAOF'],
    ],
    ways: ['transaction'],
    got: notInside,
    means: 'Refused inside `MULTI`: they concern the connection, or more than one group.',
  },
  {
    commands: ['EXEC'],
    ways: always,
    got: notInside,
    means: 'Refused if one of the commands above was sent inside the transaction.',
  },
  {
    commands: ['NOSUCHCOMMAND', 'everything that is refused'],
    ways: ['transaction'],
    got: /^\+QUEUED\r\n/,
    means:
      'The group of a transaction is known from its first key on. Before that, such a command is queued, and then `EXEC` is refused.',
  },
  {
    commands: ['MULTI', 'WATCH', 'RESET'],
    ways: ['transaction'],
    got: /^-ERR (MULTI calls can not be nested|WATCH inside MULTI is not allowed)\r\n/,
    means:
      'Inside `MULTI` they are refused with the error text of redis. The engine decides whether `EXEC` is refused then.',
  },
  {
    commands: ['PING', 'PUNSUBSCRIBE', 'SUNSUBSCRIBE', 'UNSUBSCRIBE'],
    ways: ['transaction'],
    got: /^\+OK\r\n/,
    means: 'In RESP2 a subscriber may send `MULTI`; an engine would refuse it.',
  },
  {
    commands: ['CLUSTER', 'CLUSTERSCAN', 'READONLY', 'READWRITE'],
    ways: always,
    got: /^-ERR This instance has cluster support disabled\r\n/,
    means: 'Refused: for its clients the endpoint is not a cluster.',
  },
  {
    commands: ['MONITOR', 'PSYNC', 'REPLCONF', 'SYNC'],
    ways: always,
    got: /^-ERR \w+ is not served for a sharded database\r\n/,
    means: 'Refused for every user.',
  },
  {
    commands: ['MOVE', 'SELECT', 'SWAPDB'],
    ways: always,
    got: /^(\*1\r\n)?-ERR (DB index is out of range|\w+ is not allowed in cluster mode)\r\n/,
    means: 'Refused: a sharded database has only the database 0.',
  },
  {
    commands: ['SCAN'],
    ways: always,
    got: /^\*2\r\n\$1\r\n1\r\n/,
    means: 'Scans the groups in turn: the cursor is 0 after the last group.',
  },
  {
    commands: ['CLIENT'],
    ways: always,
    got: /^-ERR CLIENT is not served for a sharded database\r\n/,
    means: '`CLIENT CACHING` is refused: the group of the next command is not known yet.',
  },
]
