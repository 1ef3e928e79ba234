import { expect, test } from 'vitest'
import { watchAnswer } from '../../../src/commands/watch-answer.ts'
import type { Context } from '../../../src/link/open-context.ts'
import { CommandFault } from '../../../src/output/command-fault.ts'
import { type AnswerOptions, printList } from '../../../src/output/print-answer.ts'
import type { Terminal } from '../../../src/output/terminal.ts'

interface Row {
  readonly name: string
  readonly state: string
}

/**
 * Watches a list with these rows in turn; null: the server is away. After the last one the server hangs, and
 * the reader of stdout has gone.
 */
async function watch(answers: readonly (readonly Row[] | null)[], answer: AnswerOptions = { form: 'table' }) {
  const gone = new AbortController()
  const told = { out: '', said: '' }
  const context = {
    answer,
    terminal: {
      gone: gone.signal,
      progress: 'lines',
      outIsTerminal: false,
      out(text: string) {
        told.out += text
      },
      say(text: string) {
        told.said += text
      },
      paint: (_: string, text: string) => text,
    } as unknown as Terminal,
  } as Context
  const left = [...answers]
  const show = async ({ terminal, answer: form }: Context) => {
    const rows = left.shift()
    if (rows === undefined) {
      gone.abort()
      return new Promise<void>(() => undefined)
    }
    if (rows === null) throw new CommandFault('unreached', 'no server answers')
    return printList(terminal, { rows, columns: [], nameOf: ({ name }: Row) => name }, form)
  }
  await watchAnswer(context, show, 1)
  return told
}

const [a, b] = [
  { name: 'a', state: 'active' },
  { name: 'b', state: 'pending' },
]

test('a row is told when it is new, and when it has changed; a server that is away for a while is told once', async () => {
  const changed = { ...b, state: 'active' }
  const told = await watch([[a], [a, b], null, null, [a, b], [a, changed], [a]])
  expect(told.out).toBe([a, b, changed].map((row) => `${JSON.stringify(row)}\n`).join(''))
  expect(told.said).toBe('the server does not answer; it is asked again\n')
  expect(process.exitCode).toBeUndefined()
})

test('a server that has never answered is not waited for', async () => {
  await expect(watch([null, [a]])).rejects.toThrow('no server answers')
})

test('what cannot be told in pieces is refused', async () => {
  await expect(watch([[a]], { form: 'yaml' })).rejects.toThrow('--watch is a table on a terminal')
  await expect(watch([[a]], { form: 'table', columns: 'name' })).rejects.toThrow('--watch is a table')
})
