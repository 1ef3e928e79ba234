import { expect, test } from 'vitest'
import { readPrimary } from './lookup-primary.ts'

test('the primary is the first address of the first endpoint', () => {
  const text = JSON.stringify({
    uid: 1,
    endpoints: [{ addr: ['10.0.0.1', '10.0.0.2'], port: 7001 }, { port: 1 }],
  })
  expect(readPrimary('url', text)).toEqual({ host: '10.0.0.1', port: 7001 })
})

test.each([
  '',
  'null',
  '<html>',
  '{"endpoints":[]}',
  '{"endpoints":[{"addr":[],"port":0}]}',
  '{"endpoints":[null]}',
])('an answer that names no endpoint (%j) is said so', (text) => {
  expect(() => readPrimary('http://api/v1/bdbs/1', text)).toThrow('http://api/v1/bdbs/1 names no endpoint')
})
