import Fastify from 'fastify'
import { expect, test } from 'vitest'
import { standing, textOf } from './standing-answers.ts'

test('the text of a standing answer is made once, and is what a schema would have made of it each time', async () => {
  const { app, made } = serve()
  app.get('/one', { schema: { response: { 200: {} } } }, async (_, reply) => {
    const answer = standing(one)
    return textOf(answer, reply) ?? answer
  })
  const first = await app.inject('/one')
  const second = await app.inject('/one')
  expect(made()).toBe(1)
  expect(second.body).toBe(first.body)
  expect(second.json()).toEqual({ uid: 1 })
  expect(second.headers['content-type']).toBe('application/json; charset=utf-8')
  expect(second.headers['content-length']).toBe('9')
})

test('another object has a text of its own, and what does not stand is left to Fastify', async () => {
  const { app, made } = serve()
  app.get('/:uid', { schema: { response: { 200: {} } } }, async ({ params }, reply) => {
    const answer = { uid: Number((params as { uid: string }).uid) }
    return textOf(answer.uid > 1 ? standing(answer) : answer, reply) ?? answer
  })
  const bodies = []
  for (const path of ['/1', '/1', '/2', '/3']) bodies.push((await app.inject(path)).body)
  expect(bodies).toEqual(['{"uid":1}', '{"uid":1}', '{"uid":2}', '{"uid":3}'])
  expect(made()).toBe(4)
})

const one = { uid: 1 }

/** A server that counts how often it makes a text. */
function serve() {
  const app = Fastify()
  let count = 0
  app.setSerializerCompiler(() => (value) => {
    count += 1
    return JSON.stringify(value)
  })
  return { app, made: () => count }
}
