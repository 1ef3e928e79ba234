import type { Random } from './random.ts'

/** A request as clients write it. */
export function request(...words: readonly (string | number)[]): string {
  return `*${words.length}\r\n${words.map((word) => `$${String(word).length}\r\n${word}\r\n`).join('')}`
}

const keys = ['{b}k', '{c}k', '{a}k', 'k', '', '\r\n+OK\r\n', '\0', '{}', '{', 'x'.repeat(300)]
const values = [
  '',
  'v',
  '-1',
  '0',
  '99999999999999999999',
  '\r\n$5\r\nhello\r\n',
  '*3\r\n$3\r\nSET\r\n',
  'nan',
  'y'.repeat(2_000),
]

/** With the rights of a database's user: nothing here concerns the engine itself. */
const names = [
  ...[
    'GET',
    'SET',
    'MSET',
    'MGET',
    'INCR',
    'APPEND',
    'SETRANGE',
    'GETRANGE',
    'DEL',
    'EXISTS',
    'EXPIRE',
    'TYPE',
    'RENAME',
    'COPY',
  ],
  ...[
    'LPUSH',
    'LRANGE',
    'LMPOP',
    'HSET',
    'HSCAN',
    'SADD',
    'SSCAN',
    'ZADD',
    'ZUNIONSTORE',
    'ZSCAN',
    'XADD',
    'XREAD',
    'XREADGROUP',
    'XGROUP',
  ],
  ...[
    'SORT',
    'BITOP',
    'OBJECT',
    'MEMORY',
    'GEOADD',
    'GEORADIUS',
    'PFADD',
    'SCAN',
    'KEYS',
    'DBSIZE',
    'RANDOMKEY',
    'EVAL',
    'EVALSHA',
    'FCALL',
  ],
  ...[
    'SCRIPT',
    'FUNCTION',
    'MULTI',
    'EXEC',
    'DISCARD',
    'WATCH',
    'UNWATCH',
    'SUBSCRIBE',
    'UNSUBSCRIBE',
    'PSUBSCRIBE',
    'PUNSUBSCRIBE',
  ],
  ...[
    'SSUBSCRIBE',
    'SUNSUBSCRIBE',
    'PUBLISH',
    'SPUBLISH',
    'PUBSUB',
    'CLIENT',
    'HELLO',
    'AUTH',
    'SELECT',
    'RESET',
    'QUIT',
    'ECHO',
    'PING',
  ],
  ...[
    'WAIT',
    'WAITAOF',
    'MONITOR',
    'SYNC',
    'PSYNC',
    'REPLCONF',
    'READONLY',
    'READWRITE',
    'ASKING',
    'CLUSTER',
    'COMMAND',
    'INFO',
    'ACL',
    'CONFIG',
  ],
  ...[
    'LATENCY',
    'SLOWLOG',
    'DEBUG',
    'SENTINEL',
    'ROLE',
    'MOVE',
    'SWAPDB',
    'RESTORE',
    'DUMP',
    'TOUCH',
    'NOSUCHCOMMAND',
    '',
    ' ',
  ],
]
const subcommands = [
  'ID',
  'LIST',
  'INFO',
  'SETNAME',
  'SETINFO',
  'REPLY',
  'TRACKING',
  'CACHING',
  'NO-EVICT',
  'GETREDIR',
  'UNBLOCK',
  'HELP',
  'LOAD',
  'EXISTS',
]

function anyArgument(random: Random): string {
  return random.pick(random.pick([keys, values, subcommands, names]))
}

/** Up to `most` of them, one after the other. */
export function several(random: Random, most: number, make: () => string): string {
  return Array.from({ length: 1 + random.below(most) }, make).join('')
}

/** The name of a command with up to five arguments, which need not fit it. */
export function anyCommand(random: Random): string {
  const words = Array.from({ length: random.below(6) }, () => anyArgument(random))
  return request(random.pick(names), ...words)
}
