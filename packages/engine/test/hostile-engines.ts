import { createServer, type Socket } from 'node:net'

/**
 * A program: engines that accept every login and answer the first command with what no real engine sends;
 * those of `floods` without end. It sends its parent the port of each.
 */

const MB = 1 << 20

/** Bytes that are sent once, each with a name. */
const said: Readonly<Record<string, string>> = {
  'nothing that was asked for, which is null': '+x\r\n$-1\r\n',
  'a push of nothing': '>1\r\n_\r\n>0\r\n',
  'a subscription to nothing': '>2\r\n+subscribe\r\n_\r\n',
  'a map': '%1\r\n+__proto__\r\n*1\r\n+x\r\n',
  'a list in a list, two million deep': '*1\r\n'.repeat(2_000_000),
  'a list in a list, and its end': `${'*1\r\n'.repeat(200_000)}:1\r\n`,
  'a list of 99999999999': '*99999999999\r\n',
  'a number that is too large': ':1e308\r\n',
  'a number that is none': ':nan\r\n',
  'a length with many digits': `$${'9'.repeat(400)}\r\n`,
  'a list of many lists, and no more': `*99000\r\n${'*0\r\n'.repeat(99_000)}+x\r\n`,
  'a text of another length': '$3\r\nabcdef\r\n',
  'half a message': '$30\r\nabcdef',
}

/** Bytes that are sent first, and bytes that are sent repeatedly after them. */
const floods: Readonly<Record<string, readonly [string, string]>> = {
  'answers without end': ['', '+x\r\n'.repeat(16_000)],
  'a text of a terabyte': ['$999999999999\r\n', 'a'.repeat(MB)],
  'a list of four billion lists': ['*4000000000\r\n', '*0\r\n'.repeat(16_000)],
  'a list of many lists': ['*99000\r\n', '*99000\r\n*0\r\n'.repeat(8_000)],
  'a list in a list without end': ['', '*1\r\n'.repeat(16_000)],
  'maps in maps without end': ['', '%1\r\n+a\r\n'.repeat(8_000)],
  'attributes without end': ['', '|1\r\n+a\r\n'.repeat(8_000)],
  'an error without end': ['-', 'A'.repeat(MB)],
  'a line without end': ['+', 'A'.repeat(MB)],
  'a number without end': [':', '9'.repeat(MB)],
  'a text in pieces without end': ['$?\r\n', ';1\r\na\r\n'.repeat(8_000)],
}

/**
 * The names of what the engines of this program say, once or without end; the program tells its parent a port
 * for each.
 */
export const hostile = { said: Object.keys(said), floods: Object.keys(floods) }

function answer(socket: Socket, name: string): void {
  const [first, again] = floods[name] ?? [said[name] ?? '', '']
  socket.write(first, 'latin1')
  if (again === '') return
  const bytes = Buffer.from(again)
  const pour = () => {
    while (!socket.destroyed && socket.write(bytes));
  }
  socket.on('drain', pour)
  pour()
}

function listen(name: string): Promise<readonly [string, number]> {
  const { promise, resolve } = Promise.withResolvers<readonly [string, number]>()
  const server = createServer((socket) => {
    socket.on('error', () => undefined)
    socket.once('data', () => {
      socket.write('+OK\r\n+PONG\r\n')
      socket.once('data', () => answer(socket, name))
    })
  })
  server.listen(0, '127.0.0.1', () => {
    const address = server.address()
    resolve([name, typeof address === 'object' && address !== null ? address.port : 0])
  })
  return promise
}

if (process.send !== undefined && process.argv[1] === import.meta.filename) {
  process.once('disconnect', () => process.exit(0))
  process.send(Object.fromEntries(await Promise.all([...hostile.said, ...hostile.floods].map(listen))))
}
