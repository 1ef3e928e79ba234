/** The clients of one run, in a process of their own: the process that watches the upgrade must not delay them. Its options are its one argument. */
import { type LoadOptions, startCrowdLoad } from './crowd-load.ts'

const load = await startCrowdLoad(JSON.parse(process.argv[2] ?? '{}') as LoadOptions)
process.send?.({ ready: true })
process.once('message', () => process.send?.({ report: load.stop() }))
// The parent process has received all results, or has ended.
process.once('disconnect', () => process.exit())
