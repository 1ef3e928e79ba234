import { expect, test } from 'vitest'
import { fc } from '../../proof/properties.ts'
import { createLedgerBook, type Outcome } from './ledger-book.ts'

const CONNECTIONS = 3
const entries = fc.array(
  fc.record({
    connection: fc.nat({ max: CONNECTIONS - 1 }),
    outcome: fc.constantFrom<Outcome>('acked', 'acked', 'acked', 'refused', 'unknown'),
  }),
  { maxLength: 300 },
)

test('the book holds exactly what a naive list of all outcomes holds', () => {
  fc.assert(
    fc.property(entries, (written) => {
      const book = createLedgerBook(CONNECTIONS)
      const naive: { connection: number; number: number; outcome: Outcome }[] = []
      for (const { connection, outcome } of written) {
        naive.push({ connection, number: book.nextNumber(connection), outcome })
        book.note(connection, outcome)
      }
      const numbersOf = (connection: number, outcome: Outcome) =>
        naive
          .filter((one) => one.connection === connection && one.outcome === outcome)
          .map((one) => one.number)
      for (let connection = 0; connection < CONNECTIONS; connection += 1) {
        expect([...book.ackedNumbers(connection)]).toEqual(numbersOf(connection, 'acked'))
        expect(book.countsOf(connection)).toEqual({
          acked: numbersOf(connection, 'acked').length,
          refused: numbersOf(connection, 'refused').length,
          unknown: numbersOf(connection, 'unknown').length,
        })
      }
      const total = (outcome: Outcome) => naive.filter((one) => one.outcome === outcome).length
      expect(book.counts()).toEqual({
        acked: total('acked'),
        refused: total('refused'),
        unknown: total('unknown'),
      })
    }),
  )
})

test('the number of a command is used again only after a refusal', () => {
  fc.assert(
    fc.property(entries, (written) => {
      const book = createLedgerBook(CONNECTIONS)
      const used = new Set<string>()
      for (const { connection, outcome } of written) {
        const key = `${connection}:${book.nextNumber(connection)}`
        expect(used.has(key)).toBe(false)
        book.note(connection, outcome)
        if (outcome !== 'refused') used.add(key)
      }
    }),
  )
})

test('a million acknowledged writes do not make a page longer', () => {
  const book = createLedgerBook(1)
  const beforeBytes = process.memoryUsage().heapUsed
  for (let n = 0; n < 1_000_000; n += 1) book.note(0, 'acked')
  expect(process.memoryUsage().heapUsed - beforeBytes).toBeLessThan(8_000_000)
  expect(book.counts().acked).toBe(1_000_000)
})

test('a connection that does not exist is a fault, not an empty page', () => {
  expect(() => createLedgerBook(1).note(1, 'acked')).toThrow('there is no connection 1')
})
