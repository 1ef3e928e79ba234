import type { Way } from './run-rows.ts'

/** Where an endpoint says something else than a single engine, and means it. */
export interface Documented {
  /** Those that it concerns. */
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
    'What was watched when the role moved counts as changed: the next `EXEC` answers nil, and the client tries again.',
}

export const plainDifferences: readonly Documented[] = [watched]

export const shardedDifferences: readonly Documented[] = [
  watched,
  {
    commands: [
      ...['ASKING', 'AUTH', 'CLIENT', 'CLUSTER', 'CLUSTERSCAN', 'DBSIZE', 'FLUSHALL', 'FLUSHDB', 'FUNCTION'],
      ...['HELLO', 'KEYS', 'MONITOR', 'PSYNC', 'RANDOMKEY', 'READONLY', 'READWRITE', 'REPLCONF', 'SCAN'],
      ...['SCRIPT', 'SELECT', 'SYNC', 'UNWATCH', 'WAIT', 'WAITAOF'],
    ],
    ways: ['transaction'],
    got: notInside,
    means: 'Refused inside of `MULTI`: they concern the connection, or more than one group.',
  },
  {
    commands: ['EXEC'],
    ways: always,
    got: notInside,
    means: 'Refused where one of those was to be part of the transaction.',
  },
  {
    commands: ['NOSUCHCOMMAND', 'everything that is refused'],
    ways: ['transaction'],
    got: /^\+QUEUED\r\n/,
    means:
      'Before the first key of a transaction its group is not known: what is refused is queued, and `EXEC` is refused.',
  },
  {
    commands: ['MULTI', 'WATCH', 'RESET'],
    ways: ['transaction'],
    got: /^-ERR (MULTI calls can not be nested|WATCH inside MULTI is not allowed)\r\n/,
    means:
      'Inside of `MULTI` refused in the words that redis has for it. Whether `EXEC` is refused then, the engine decides.',
  },
  {
    commands: ['PING', 'PUNSUBSCRIBE', 'SUNSUBSCRIBE', 'UNSUBSCRIBE'],
    ways: ['transaction'],
    got: /^\+OK\r\n/,
    means: 'In RESP2 a subscriber may say `MULTI`, which an engine refuses it.',
  },
  {
    commands: ['CLUSTER', 'CLUSTERSCAN', 'READONLY', 'READWRITE'],
    ways: always,
    got: /^-ERR This instance has cluster support disabled\r\n/,
    means: 'Refused: to its clients the endpoint is no cluster.',
  },
  {
    commands: ['MONITOR', 'PSYNC', 'REPLCONF', 'SYNC'],
    ways: always,
    got: /^-ERR \w+ is not served for a sharded database\r\n/,
    means: 'Refused to every user.',
  },
  {
    commands: ['MOVE', 'SELECT', 'SWAPDB'],
    ways: always,
    got: /^(\*1\r\n)?-ERR (DB index is out of range|\w+ is not allowed in cluster mode)\r\n/,
    means: 'Refused: a sharded database has the database 0 only.',
  },
  {
    commands: ['SCAN'],
    ways: always,
    got: /^\*2\r\n\$1\r\n1\r\n/,
    means: 'Tells one group after the other: its cursor is 0 after the last one.',
  },
  {
    commands: ['CLIENT'],
    ways: always,
    got: /^-ERR CLIENT is not served for a sharded database\r\n/,
    means: '`CLIENT CACHING` is refused: of which group the next command asks something is not known yet.',
  },
]
