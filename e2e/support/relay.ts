/**
 * A connection to PostgreSQL: forwards one Unix socket to another (`relay.ts FROM TO`). It is a process of
 * its own, so that it can be stopped: then nothing goes through and nothing is reported; resumed, it forwards
 * what has waited. Killed, it breaks the connections.
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
