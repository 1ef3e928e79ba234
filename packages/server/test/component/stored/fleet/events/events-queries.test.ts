import { afterAll, beforeAll, expect, test } from 'vitest'
import { databasesStore } from '../../../../../src/fleet/stores/databases-store.ts'
import { adminPassword, startControlPlane, type TestControlPlane } from '../../../../control-plane.ts'
import { databaseOf } from '../../../../records.ts'

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

/** What a stream begins with, as text, up to these words; of a refusal the whole answer. */
async function begin(query: string, { upTo = 'event: live', headers = {} } = {}) {
  const response = await fetch(new URL(`/v1/events${query}`, running.url), {
    headers: { authorization: auth, ...headers },
  })
  let text = ''
  for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += chunk
    if (text.includes(upTo)) break
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

test('a client goes on with its own id over a restart, and is told of a gap with the id of another history', async () => {
  const idsOf = (text: string) => [...text.matchAll(/^id: (\S+)$/gm)].map(([, id]) => id ?? '')
  const [id = ''] = idsOf((await begin('?topics=audit')).text)
  const [seq, mark] = id.split('-')
  expect(id).toMatch(/^\d+-[0-9a-z]+$/)
  await running.restart()
  auth = await running.signIn('admin', adminPassword)
  await running.send('POST', '/v1/roles', { auth, body: { name: 'next', management: 'none' } })
  const goOn = (last: string, query = '?topics=audit') =>
    begin(query, { upTo: '\n\n', headers: { 'last-event-id': last } })
  for (const { text } of [
    await goOn(id),
    await goOn(String(seq)),
    await begin(`?topics=audit&last_event_id=${id}`, { upTo: '\n\n' }),
  ])
    expect([text.includes('event: audit'), text.includes('event: snapshot')]).toEqual([true, false])
  for (const other of [`${seq}-${mark === 'zz' ? 'yy' : 'zz'}`, `1-zz`])
    expect((await goOn(other)).text).toContain('"reason":"gap"')
  for (const bad of ['x', `${seq}-`, `${seq}-UP`, `-${mark}`]) expect((await goOn(bad)).status).toBe(400)
})
