/** A server that has a move prepared at the agent's socket of its argument, and prints how the order ends. */
import { prepareMove } from '../src/nodes/open-move.ts'

const shards = { primary: 's1', successor: 's2', others: [] }
using move = await prepareMove(process.argv[2] ?? '', shards, { bucket: 1, epoch: 1 })
const given: string[] = []
const terms = {
  build: { flavour: 'valkey', version: '8.1.1' },
  errorReplies: 0,
  validForMs: 1_500,
  followAt: { host: '127.0.0.1', port: 1 },
}
const ending = move.order(terms, { give: () => void given.push('given'), refused: () => undefined })
process.stdout.write('ordered\n')
await ending.catch(() => undefined)
process.stdout.write(`${given.join()}\n`)
