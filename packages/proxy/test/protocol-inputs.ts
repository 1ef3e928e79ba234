import { setTimeout as delay } from 'node:timers/promises'
import { dial, type RawClient, until } from './stage.ts'

/** More than an engine waits for. */
export const endless = (byte: string) => byte.repeat(70_000)
const bulk = (text: string) => `$${text.length}\r\n${text}\r\n`

/**
 * Invalid requests, and some that are valid though they do not look so. A PING follows each of them, for
 * those that engines accept.
 */
const inputs: readonly string[] = [
  ...[
    '*x\r\n',
    '*-\r\n',
    '*1x\r\n',
    '*01\r\n',
    '*+1\r\n',
    '* 1\r\n',
    '*\r\n',
    '*-1\r\n',
    '*-10\r\n',
    '*0\r\n',
    '*00\r\n',
    '*-0\r\n',
  ],
  ...[
    '*2147483647\r\n$0\r\n',
    '*2147483648\r\n',
    '*99999999999999999999\r\n',
    '*1\rX$4\r\nPING\r\n',
    '*1\n$4\nPING\n',
    '*1\r\n\r\n',
  ],
  ...[
    '*1\r\n#4\r\n',
    '*1\r\n4\r\n',
    '*1\r\n:4\r\n',
    '*1\r\n\u0000\r\n',
    '*1\r\n \r\n',
    '*1\r\n"\r\n',
    "*1\r\n'\r\n",
    '*1\r\n\u00ff\r\n',
  ],
  ...[
    '*1\r\n$x\r\n',
    '*1\r\n$-1\r\n',
    '*1\r\n$\r\n',
    '*1\r\n$04\r\nPING\r\n',
    '*1\r\n$536870913\r\n',
    '*1\r\n$9999999999999999999\r\n',
  ],
  ...[
    '*1\r\n$4\rXPING\r\n',
    '*1\r\n$4\r\nPINGxx',
    '*1\r\n$4\r\nPINGING\r\n',
    '*1\r\n$0\r\n\r\n',
    '*2\r\n$4\r\nPING\r\n*1\r\n',
  ],
  ...[
    endless('*'),
    `*${endless('1')}`,
    `*1\r\n${endless('$')}`,
    `*1\r\n$${endless('1')}`,
    endless('x'),
    endless('\0'),
    endless(' '),
  ],
  ...[`*\0${endless('\0')}`, `$\0${endless('\0')}`, `\0${endless('\0')}`, `GET ${endless('k')}\r\n`],
  ...[
    'GET "a\r\n',
    "GET 'a\r\n",
    'GET "a"b\r\n',
    'GET a\0b\r\nPING\r\n',
    '"\r\n',
    'PING "\\x4"\r\n',
    '\r\n\r\n',
    '\n',
    ' \r\n',
    'PING\n',
    'PING\r\r\n',
  ],
  ...[
    'PING\r\n*x\r\n',
    `*2\r\n${bulk('ECHO')}${bulk('a')}GET "\r\n`,
    `*1\r\n${bulk('MULTI')}PING\r\n*1\r\n+\r\n`,
  ],
  ...[
    '$4\r\nPING\r\n',
    '+PING\r\n',
    ':1\r\n',
    '%1\r\n',
    'POST / HTTP/1.1\r\n\r\n',
    'GET / HTTP/1.1\r\nHost: a\r\n\r\n',
  ],
]

async function answersTo(port: number, pieces: readonly string[], betweenMs = 0): Promise<RawClient> {
  const client = await dial(port)
  for (const piece of pieces) {
    client.send(Buffer.from(piece, 'latin1'))
    await (betweenMs > 0 ? delay(betweenMs) : new Promise((tell) => setImmediate(tell)))
  }
  return client
}

/**
 * Times that an input is repeated: if an engine closes with unread bytes, the kernel sometimes drops its
 * answer. An engine that closes also drops answers to what came in the same read, so every second time it
 * gets line by line.
 */
const TRIES = 6
const LINE_MS = 20
const linesOf = (text: string): readonly string[] => text.split(/(?<=\n)/)

/** The replies to the same bytes from the engine and from the endpoint, if they differ. */
async function compared(
  port: number,
  throughPort: number,
  pieces: readonly string[],
): Promise<readonly object[]> {
  const answers = new Set<string>()
  for (let tries = 1; ; tries += 1) {
    await using direct =
      tries % 2 === 1
        ? await answersTo(port, pieces)
        : await answersTo(port, linesOf(pieces.join('')), LINE_MS)
    await using through = await answersTo(throughPort, pieces)
    await until(() => direct.ended() || direct.text().endsWith('+PONG\r\n'), undefined, 300).catch(() => null)
    const isSame = () => through.text() === direct.text() && through.ended() === direct.ended()
    const areOver = () => through.ended() && direct.ended()
    // On a busy machine one of them is answered long after the other. Nothing more comes than that.
    const staysSame = async () => {
      if (isSame() && !direct.ended()) await delay(20)
      return isSame()
    }
    await until(async () => (await staysSame()) || areOver()).catch(() => null)
    answers.add(`${direct.ended()} ${direct.text()}`)
    if (isSame() || answers.has(`${through.ended()} ${through.text()}`)) return []
    if (areOver() && isBeginning(direct.text(), through.text()) && tries < TRIES) continue
    const seen = [direct, through].map((client) => [client.text(), client.ended()])
    return [{ input: pieces.join('').slice(0, 40), pieces: pieces.length, direct: seen[0], through: seen[1] }]
  }
}

/** One is all that has arrived of the other. */
function isBeginning(one: string, other: string): boolean {
  return one.startsWith(other) || other.startsWith(one)
}

/**
 * Sends each input whole, halved, and in single bytes if it is short, and a PING behind it, to both ports.
 * Answers the differences. `except`: without these.
 */
export async function compareInputs(
  port: number,
  throughPort: number,
  except: readonly string[] = [],
): Promise<readonly object[]> {
  const differences = await Promise.all(
    inputs.flatMap((input) => {
      if (except.includes(input)) return []
      const text = `${input}PING\r\n`
      const half = Math.floor(input.length / 2)
      const cuts = [[text], [text.slice(0, half), text.slice(half)], input.length < 24 ? [...text] : [text]]
      return cuts.map((pieces) => compared(port, throughPort, pieces))
    }),
  )
  return differences.flat()
}

/**
 * Asks both ports for replies as deep as engines nest, and deeper: then the engine reports an error in the
 * middle of the reply. Answers both texts.
 */
export async function askDeep(
  ports: readonly number[],
  words = '0',
): Promise<readonly (readonly string[])[]> {
  return Promise.all(
    [1_500, 7_500, 9_000].map((deep) =>
      Promise.all(
        ports.map(async (port) => {
          await using client = await dial(port)
          client.send(
            `EVAL "local t={} local c=t for i=1,${deep} do c[1]={} c=c[1] end return t" ${words}\r\nPING\r\n`,
          )
          await until(() => client.text().endsWith('+PONG\r\n'))
          return client.text()
        }),
      ),
    ),
  )
}
