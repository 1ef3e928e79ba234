import { expect, test } from 'vitest'
import { countData, describeMissing } from './count-data.ts'

const whole = {
  keysInFile: 12,
  databases: [
    { number: 0, keys: 10, expires: 3 },
    { number: 4, keys: 2, expires: 0 },
  ],
  functions: 1,
  memoryBytes: 1_000,
}

test('data are whole if only keys with an expiry are fewer', () => {
  expect(describeMissing(whole, whole)).toBeUndefined()
  const [first, second] = whole.databases
  const found = (keys: number, keysInFile: number | null = 12) =>
    describeMissing(
      { ...whole, keysInFile, databases: [{ number: 0, keys, expires: 0 }, ...(second ? [second] : [])] },
      whole,
    )
  expect(found(7)).toBeUndefined()
  expect(found(7, null)).toBeUndefined()
  expect(found(7, 11)).toBe('it has read 11 keys of 12')
  expect(found(6)).toBe('it has 6 keys in database 0, not 10')
  expect(found(11)).toBe('it has 11 keys in database 0, not 10')
  expect(describeMissing({ ...whole, databases: first ? [first] : [] }, whole)).toBe(
    'it has 0 keys in database 4, not 2',
  )
  expect(describeMissing({ ...whole, functions: 0 }, whole)).toBe('it has 0 libraries of functions, not 1')
})

test('a key of which every field has expired may be gone, too', () => {
  const of = (keys: number) => ({ number: 0, keys, expires: 0, volatile: 2 })
  const backup = { ...whole, keysInFile: 4, databases: [of(4)] }
  const found = (keys: number, keysInFile: number) =>
    describeMissing({ ...backup, keysInFile, databases: [of(keys)] }, backup)
  expect(found(2, 3)).toBeUndefined()
  expect(found(1, 4)).toBe('it has 1 keys in database 0, not 4')
  expect(found(2, 1)).toBe('it has read 1 keys of 4')
})

test('an engine that does not say how many keys it has read, and knows no functions, is counted, too', async () => {
  const replies: Readonly<Record<string, unknown>> = {
    INFO: '# Memory\r\nused_memory:700\r\n# Keyspace\r\ndb0:keys=3,expires=1,avg_ttl=9,subexpiry=2\r\n',
    COMMAND: [null],
  }
  const call = async (name: string) => replies[name] as string
  expect(await countData(call)).toEqual({
    keysInFile: null,
    databases: [{ number: 0, keys: 3, expires: 1, volatile: 2 }],
    functions: 0,
    memoryBytes: 700,
  })
})
