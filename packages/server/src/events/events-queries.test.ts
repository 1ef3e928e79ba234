import { afterAll, beforeAll, expect, test } from 'vitest'
import { adminPassword, startControlPlane, type TestControlPlane } from '../../test/control-plane.ts'
import { databaseOf } from '../../test/records.ts'
import { databasesStore } from '../databases/databases-store.ts'

let running: TestControlPlane
let auth: string
beforeAll(async () => {
  running = await startControlPlane()
  await running.withStore(async ({ db }) => {
    await databasesStore(db).insert({ ...databaseOf({ name: 'orders' }), groups: 1 })
  })
  auth = await running.signIn('admin', adminPassword)
})
afterAll(() => running[Symbol.asyncDispose]())

/** The first events of a stream, as text, up to the one that ends a snapshot; of a refusal the whole answer. */
async function begin(query: string, headers: Readonly<Record<string, string>> = {}) {
  const response = await fetch(new URL(`/v1/events${query}`, running.url), {
    headers: { authorization: auth, ...headers },
  })
  let text = ''
  for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += chunk
    if (text.includes('event: live')) break
  }
  return { status: response.status, text }
}

test('nodes of one database are refused, and all that concerns the database has no nodes', async () => {
  for (const topics of ['nodes', 'actions,nodes']) {
    const { status, text } = await begin(`?topics=${topics}&database=1`)
    expect([status, JSON.parse(text)]).toMatchObject([
      400,
      {
        error_code: 'invalid_request',
        message: 'topics: nodes concern no database; leave out nodes, or database',
      },
    ])
  }
  const { status, text } = await begin('?database=1')
  expect(status).toBe(200)
  expect(text).toContain('event: database')
  expect(text).not.toContain('event: node')
})
