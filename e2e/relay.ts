/**
 * A way to PostgreSQL: passes one Unix socket on to another (`relay.ts FROM TO`). A process of its own, so that it can be stopped: then nothing goes
 * through and nothing is said; gone on, it passes on what has waited. Killed, it cuts the connections.
 */
import { rmSync } from 'node:fs'
import { connect, createServer } from 'node:net'

const [from = '', to = ''] = process.argv.slice(2)
rmSync(from, { force: true })
createServer({ allowHalfOpen: true }, (near) => {
  const far = connect({ path: to, allowHalfOpen: true })
  for (const socket of [near, far]) socket.on('error', () => undefined)
  near.once('close', () => far.destroy())
  far.once('close', () => near.destroy())
  near.pipe(far)
  far.pipe(near)
}).listen(from, () => process.send?.({ url: from }))
process.once('SIGTERM', () => process.exit())
// Its test is gone.
process.once('disconnect', () => process.exit())
