import { anyCommand, request, several } from './hostile-words.ts'
import type { Random } from './random.ts'

/** The input of a hostile client: bytes, and whether it reads the replies. */
export interface HostileInput {
  readonly kind: string
  readonly bytes: Buffer
  readonly readsReplies: boolean
}

/** One of 14 kinds, by chance. Together they are some KB long; a few have 100 KB. */
export function hostileInput(random: Random): HostileInput {
  const kind = random.pick(kinds)
  const made = makers[kind](random)
  const bytes = typeof made === 'string' ? Buffer.from(made, 'latin1') : made
  return { kind, bytes, readsReplies: kind !== 'replies that are never read' }
}

const makers = {
  'bytes of chance': (random: Random) => random.bytes(1 + random.below(400)),
  'no framing': (random: Random) =>
    several(random, 6, () =>
      random.pick([
        ...[
          '*\r\n',
          '*-1\r\n',
          '*0\r\n',
          '*01\r\n$1\r\na\r\n',
          '*1\n$4\nPING\n',
          '*1\r\n$-1\r\n',
          '*1\r\n$-5\r\n',
          '*1\r\n:1\r\n',
          '*+1\r\n',
        ],
        ...[
          '*2\r\n$3\r\nGET\r\n+k\r\n',
          '$4\r\nPING\r\n',
          '+OK\r\n',
          '-ERR no\r\n',
          ':5\r\n',
          '_\r\n',
          '#t\r\n',
          ',1.5\r\n',
          '(1\r\n',
          '\r',
          '\n',
        ],
        ...[
          '*1\r\n$4\r\nPINGxx*1\r\n$4\r\nPING\r\n',
          '*1\r\r\n',
          '* 1\r\n',
          '*1\r\n$ 4\r\nPING\r\n',
          '*1e3\r\n',
          '*0x1\r\n',
          '$',
          '*',
          '*1\r\n$4\r\nPI',
        ],
      ]),
    ),
  'lengths of giants': (random: Random) =>
    random.pick([
      ...[
        '*2147483647\r\n',
        '*2147483648\r\n',
        '*99999999999999999999\r\n',
        '*1000000\r\n$4\r\nMGET\r\n',
        '*-99999999999999999999\r\n',
      ],
      ...[
        '*2\r\n$3\r\nGET\r\n$536870913\r\n',
        '*1\r\n$9223372036854775807\r\n',
        `*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$536870912\r\n${'z'.repeat(70_000)}`,
      ],
      `*1048577\r\n${'$1\r\na\r\n'.repeat(random.below(2_000))}`,
      `*200000\r\n$5\r\nXREAD\r\n${'$1\r\na\r\n'.repeat(10_000 + random.below(5_000))}`,
    ]),
  'lists in lists': (random: Random) =>
    `${random.pick(['*1\r\n', '*2\r\n', '%1\r\n', '~1\r\n', '>1\r\n', '|1\r\n', '*1\r\n*1\r\n$1\r\n'])}`.repeat(
      1 + random.below(5_000),
    ),
  'lines that are none': (random: Random) =>
    several(random, 5, () =>
      random.pick([
        ...[
          'GET "k\r\n',
          "SET 'k v\r\n",
          'PING\0\r\n',
          'PING\n',
          '\r\n\r\n',
          ' \t \r\n',
          '"PING"x\r\n',
          'SET k "\\x00\\r\\n"\r\n',
          "GET k''\r\n",
        ],
        ...[
          'GET\tk\r\n',
          `${'PING '.repeat(20)}\r\n`,
          `ECHO ${'e'.repeat(66_000)}\r\n`,
          'e'.repeat(66_000),
          'GET / HTTP/1.1\r\nHost: x\r\n\r\n',
          '\x16\x03\x01\x02\x00',
        ],
      ]),
    ),
  'half a request': (random: Random) => {
    const whole = anyCommand(random)
    return whole.slice(0, 1 + random.below(whole.length))
  },
  'flood of channels': (random: Random) => {
    const name = random.pick([
      'SUBSCRIBE',
      'PSUBSCRIBE',
      'SSUBSCRIBE',
      'UNSUBSCRIBE',
      'PUNSUBSCRIBE',
      'SUNSUBSCRIBE',
    ])
    const count = 1 + random.below(200)
    if (random.below(2) === 0) return request(name, ...Array.from({ length: count }, (_, n) => `{b}c${n}`))
    return Array.from({ length: count }, (_, n) => request(name, `{b}c${n}`)).join('')
  },
  'flood of states': (random: Random) => {
    const count = 1 + random.below(300)
    const which = random.below(8)
    return Array.from({ length: count }, (_, n) => {
      switch (which) {
        case 0:
          return request('SELECT', n % 17)
        case 1:
          return request('CLIENT', 'SETINFO', `name-${n}`, 'x')
        case 2:
          return request('CLIENT', 'SETNAME', 'n'.repeat(1 + (n % 100)))
        case 3:
          return request('WATCH', `{b}w${n}`)
        case 4:
          return request('CLIENT', 'REPLY', ['OFF', 'SKIP', 'ON'][n % 3] ?? '')
        case 5:
          return request('CLIENT', 'TRACKING', n % 2 === 0 ? 'ON' : 'OFF', 'BCAST', 'PREFIX', `p${n}`)
        case 6:
          return request(['RESET', 'READONLY', 'UNWATCH', 'DISCARD'][n % 4] ?? '')
        default:
          return request('CLIENT', 'CAPA', `word${n}`)
      }
    }).join('')
  },
  'transactions astray': (random: Random) =>
    several(random, 60, () =>
      random.pick([
        ...[
          request('MULTI'),
          request('MULTI'),
          request('EXEC'),
          request('DISCARD'),
          request('MULTI', 'x'),
          request('WATCH', '{b}k'),
          request('WATCH'),
        ],
        ...[
          request('SET', '{b}k', '1'),
          request('SELECT', '3'),
          request('SUBSCRIBE', 'c'),
          request('AUTH', 'x'),
          request('CLIENT', 'REPLY', 'OFF'),
        ],
        ...[anyCommand(random), request('EXEC', 'x'), request('RESET'), request('BLPOP', '{b}q', '0')],
      ]),
    ),
  'logins astray': (random: Random) =>
    several(random, 8, () =>
      random.pick([
        ...[
          request('AUTH'),
          request('AUTH', ''),
          request('AUTH', 'a', 'b'),
          request('AUTH', 'a', 'b', 'c'),
          request('AUTH', 'p'.repeat(9_000)),
        ],
        ...[
          request('AUTH', 'default', '\0'),
          request('HELLO'),
          request('HELLO', '4'),
          request('HELLO', '-1'),
          request('HELLO', '3', 'AUTH'),
          request('HELLO', '3'),
        ],
        ...[
          request('HELLO', '3', 'AUTH', 'default'),
          request('HELLO', '3', 'AUTH', 'default', 'no'),
          request('HELLO', '2', 'SETNAME', 'a b'),
        ],
        ...[
          request('HELLO', '3', 'SETNAME'),
          request('HELLO', '3', 'x'.repeat(5_000)),
          request('HELLO', '2', ...Array.from({ length: 80 }, () => 'SETNAME')),
        ],
      ]),
    ),
  'pushes of a client': (random: Random) =>
    several(random, 6, () =>
      random.pick([
        ...[
          '>3\r\n$7\r\nmessage\r\n$1\r\nc\r\n$1\r\nm\r\n',
          '>2\r\n$10\r\ninvalidate\r\n*1\r\n$1\r\nk\r\n',
          '=8\r\ntxt:some\r\n',
          '!5\r\nERR x\r\n',
        ],
        ...[
          '%1\r\n+a\r\n:1\r\n',
          '~2\r\n+a\r\n+b\r\n',
          '|1\r\n+a\r\n:1\r\n*1\r\n$4\r\nPING\r\n',
          request('HELLO', '3'),
        ],
      ]),
    ),
  'words of any number': (random: Random) => several(random, 12, () => anyCommand(random)),
  'replies that are never read': (random: Random) =>
    request('SETRANGE', '{b}big', 20_000, 'x') + request('GET', '{b}big').repeat(20 + random.below(80)),
  'scripts that lie': (random: Random) => {
    const lie = random.pick([
      'MOVED 3300 127.0.0.1:1',
      'ASK 3300 127.0.0.1:1',
      'TRYAGAIN x',
      'CLUSTERDOWN x',
      'UNBLOCKED x',
      'LOADING x',
    ])
    const texts = [
      `return redis.error_reply('${lie}')`,
      `return {'subscribe', 'c', 1}`,
      `return {'message', 'c', redis.error_reply('${lie}')}`,
    ]
    const deep = 'local t = {} for i = 1, 500 do t = {t} end return t'
    return several(random, 10, () => request('EVAL', random.pick([...texts, deep]), '1', '{b}k'))
  },
}
type Kind = keyof typeof makers
// The keys of this object are those of its type.
const kinds = Object.keys(makers) as Kind[]
