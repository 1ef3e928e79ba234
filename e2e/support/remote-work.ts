/** Clients of a database, as a process that can be in another network namespace: other-machine.ts. */
import { type Login, libraries } from '../../proof/clients/clients.ts'
import { startWork, type Work } from '../../proof/clients/work.ts'

type Question =
  | { readonly begin: string; readonly login: Login }
  | { readonly answers: true }
  | { readonly stop: true }

let work: Work | undefined
async function answer(question: Question): Promise<unknown> {
  if ('begin' in question) {
    const library = libraries[question.begin]
    if (library === undefined) throw new Error(`there is no library ${question.begin}`)
    work = await startWork(library, question.login)
    return null
  }
  return 'stop' in question ? work?.stop() : work?.answers()
}

process.on('message', (question: Question) => void answer(question).then((said) => process.send?.(said)))
// Its test is gone.
process.once('disconnect', () => process.exit())
