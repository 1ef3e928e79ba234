import { pino } from 'pino'
import { createControlPlane } from '../src/app/app.ts'
import { loadConfig } from '../src/config/config.ts'

/** A server of its own process, by its environment, until it is ended. It writes its log to stdout. */
await createControlPlane(loadConfig(process.env), { now: Date.now, log: pino({ level: 'info' }) })
console.log('the server runs')
