/**
 * The server as it is, but for one thing: it ends itself with SIGKILL at the point that CRASH_AT counts to. Points are
 * the moments just before and just after each effect, from 0.
 */
import { appendFileSync } from 'node:fs'
import { createControlPlane, loadConfig } from '@fairlead/server'
import { pino } from 'pino'
import { announce, untilStopped } from '../packages/cli/src/until-stopped.ts'

const { CRASH_AT, CRASH_LOG, ...env } = process.env
let points = 0

const stopped = untilStopped()
const config = loadConfig(env)
const server = await createControlPlane(config, {
  now: Date.now,
  log: pino({ level: config.logLevel }, pino.destination({ dest: 2, sync: true })),
  onEffect(phase, name) {
    if (CRASH_AT === undefined) return
    if (points === Number(CRASH_AT)) {
      if (CRASH_LOG !== undefined) appendFileSync(CRASH_LOG, `${phase} ${name}\n`)
      process.kill(process.pid, 'SIGKILL')
    }
    points += 1
  },
})
announce({ url: server.url }, '')
await stopped
await server[Symbol.asyncDispose]()
if (process.connected) process.disconnect()
