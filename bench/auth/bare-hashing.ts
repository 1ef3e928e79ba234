/**
 * A minimal program that checks passwords: Argon2id with the server's parameters, a given number at once, for a given number of seconds.
 * It is a process of its own, like the server, and prints how many checks a second it made.
 */
import { argon2, randomBytes } from 'node:crypto'
import { promisify } from 'node:util'

const derive = promisify(argon2)
const [atOnce = 1, seconds = 1] = process.argv.slice(2).map(Number)
const password = {
  message: 'the-proof-is-in-the-ledger',
  nonce: randomBytes(16),
  memory: 19_456,
  passes: 2,
  parallelism: 1,
  tagLength: 32,
}

let done = 0
const began = performance.now()
const elapsed = () => (performance.now() - began) / 1000
await Promise.all(
  Array.from({ length: atOnce }, async () => {
    while (elapsed() < seconds) {
      await derive('argon2id', password)
      done += 1
    }
  }),
)
process.send?.({ perSecond: done / elapsed() })
process.disconnect?.()
