/** The server that ships, as the user that starts it, without a wall: its agent is a simulated one. */
import { createControlPlane, loadConfig } from '@fairlead/server'
import { pino } from 'pino'
import { announce, untilStopped } from '../../packages/cli/src/parts/until-stopped.ts'

const stopped = untilStopped()
const config = loadConfig(process.env)
const log = pino({ level: config.logLevel }, pino.destination({ dest: 2, sync: true }))
const server = await createControlPlane(config, { now: Date.now, log })
announce({ url: server.url }, '')
await stopped
await server[Symbol.asyncDispose]()
if (process.connected) process.disconnect()
