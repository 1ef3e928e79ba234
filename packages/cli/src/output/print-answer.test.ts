import { expect, test } from 'vitest'
import type { Form } from './forms.ts'
import { printList } from './print-answer.ts'
import type { Terminal } from './terminal.ts'

interface Row {
  readonly name: string
  readonly size: number
}

function printed(row: Partial<Row>, { form, isTerminal }: { form: Form; isTerminal: boolean }): string {
  let text = ''
  const terminal: Partial<Terminal> = {
    outIsTerminal: isTerminal,
    columns: () => 80,
    paint: (_, plain) => plain,
    outPainted: (piece) => {
      text += piece
    },
  }
  const columns = [
    { name: 'name', value: ({ name }: Row) => name, shown: ({ name }: Row) => name },
    { name: 'size', value: ({ size }: Row) => size },
  ]
  // As a server of another version answers it.
  const rows = [row as Row]
  printList(terminal as Terminal, { rows, columns, nameOf: ({ name }) => name }, { form, headers: false })
  return text
}

test('a value of others is one cell of one line, in the table and between tabs', () => {
  const row = { name: 'a\tb\nc\u001b[2J', size: 1 }
  expect(printed(row, { form: 'table', isTerminal: true })).toBe('a b c?[2J  1\n')
  expect(printed(row, { form: 'table', isTerminal: false })).toBe('a b c?[2J\t1\n')
  expect(JSON.parse(printed(row, { form: 'jsonl', isTerminal: false }))).toEqual(row)
})

test('a field that a server of another version leaves out is empty', () => {
  expect(printed({ name: 'a' }, { form: 'table', isTerminal: false })).toBe('a\t\n')
})

test('a column that neither the table nor any row has is refused, and one that rows may lack is not', () => {
  const rows = [{ name: 'a', size: 1 }]
  const ask = (columns: string) => () => {
    let text = ''
    const terminal: Partial<Terminal> = { outIsTerminal: false, outPainted: (piece) => (text += piece) }
    const known = [{ name: 'name', value: ({ name }: Row) => name }]
    const answer = { rows, columns: known, nameOf: ({ name }: Row) => name }
    printList(terminal as Terminal, answer, { form: 'table', columns })
    return text
  }
  expect(ask('name,size,action_uid')()).toBe('a\t1\t\n')
  expect(ask('name,foo')).toThrow('there is no column foo')
})
