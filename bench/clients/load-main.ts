/**
 * One load in a process of its own, so that the observer of the upgrade does not delay the clients. Its
 * options are its one argument.
 */
import { libraries } from '../../proof/clients/clients.ts'
import { startPacedLoad } from './paced-load.ts'

const { library: name, login, pace } = JSON.parse(process.argv[2] ?? '{}')
const library = libraries[name]
if (library === undefined)
  throw new Error(`there is no ${name}; there are ${Object.keys(libraries).join(', ')}`)
const load = await startPacedLoad(library, login, pace)
const tell = (news: object) => void process.send?.(news)
const telling = setInterval(() => tell({ answers: load.answers() }), 50)
process.once('message', () => void tellAll())
// The parent process has received all results, or has ended.
process.once('disconnect', () => process.exit())

async function tellAll(): Promise<void> {
  clearInterval(telling)
  tell({ report: await load.stop() })
}
