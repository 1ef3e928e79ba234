import { request } from 'node:http'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { databasesStore } from '../../../../src/fleet/stores/databases-store.ts'
import { chooseEncoding } from '../../../../src/http/output/compress-answers.ts'
import { adminPassword, startControlPlane, type TestControlPlane } from '../../../control-plane.ts'
import { databaseOf } from '../../../records.ts'

let fairlead: TestControlPlane
let auth: string
beforeAll(async () => {
  fairlead = await startControlPlane()
  await fairlead.withStore(async ({ db }) => {
    for (let n = 1; n <= 20; n += 1) {
      const { uid } = await databasesStore(db).insert({ ...databaseOf({ name: `db-${n}` }), groups: 1 })
      await databasesStore(db).setStatus(uid, 'creation-failed', '2026-11-21T12:00:00.000Z')
    }
  })
  auth = await fairlead.signIn('admin', adminPassword)
})
afterAll(() => fairlead[Symbol.asyncDispose]())

interface Heard {
  readonly status: number | undefined
  readonly encoding: string | undefined
  readonly vary: string | undefined
  readonly bytes: Buffer
}

/** As the bytes come: fetch would take the encoding away. */
function ask(path: string, accepts: string | undefined, method = 'GET'): Promise<Heard> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: auth, ...(accepts !== undefined && { 'accept-encoding': accepts }) }
    const sent = request(new URL(path, fairlead.url), { method, headers }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('error', reject)
      response.on('end', () => {
        const { 'content-encoding': encoding, vary } = response.headers
        resolve({ status: response.statusCode, encoding, vary, bytes: Buffer.concat(chunks) })
      })
    })
    sent.on('error', reject)
    sent.end()
  })
}

test('a list is compressed as the client accepts it, and is the same list', async () => {
  const plain = await ask('/v1/bdbs', undefined)
  expect(plain).toMatchObject({ status: 200, encoding: undefined, vary: 'accept-encoding' })
  const zipped = await ask('/v1/bdbs', 'gzip')
  const brotli = await ask('/v1/bdbs', 'gzip, deflate, br')
  expect([zipped.encoding, brotli.encoding]).toEqual(['gzip', 'br'])
  expect(gunzipSync(zipped.bytes)).toEqual(plain.bytes)
  expect(brotliDecompressSync(brotli.bytes)).toEqual(plain.bytes)
  expect(Math.max(zipped.bytes.length, brotli.bytes.length) * 4).toBeLessThan(plain.bytes.length)
})

test('so is a list that is sent entry by entry', async () => {
  const path = '/v1/bdbs/stats'
  const plain = await ask(path, 'identity')
  const zipped = await ask(path, 'gzip')
  expect([plain.status, plain.encoding, zipped.encoding]).toEqual([200, undefined, 'gzip'])
  expect(gunzipSync(zipped.bytes)).toEqual(plain.bytes)
})

test('what may hold a secret, what is short, an error, and HEAD are not', async () => {
  for (const path of ['/v1/bdbs/1', '/healthz', '/v1/bdbs/77', '/v1/bdbs?limit=0'])
    expect([path, (await ask(path, 'gzip, br')).encoding]).toEqual([path, undefined])
  const head = await ask('/v1/bdbs', 'gzip', 'HEAD')
  expect([head.status, head.encoding, head.bytes.length]).toEqual([200, undefined, 0])
})

test('of many answers at once some go out as they are, and all are whole', async () => {
  const plain = await ask('/v1/bdbs', undefined)
  const heard = await Promise.all(Array.from({ length: 20 }, () => ask('/v1/bdbs', 'gzip')))
  for (const { encoding, bytes } of heard)
    expect(encoding === undefined ? bytes : gunzipSync(bytes)).toEqual(plain.bytes)
})

test('the encoding is the one that the client prefers, and none that it refuses', () => {
  const choices = {
    gzip: 'gzip',
    'x-gzip': 'gzip',
    'br;q=0.5, gzip': 'gzip',
    'gzip;q=0.5, br;q=0.5': 'br',
    '*': 'br',
    '*, br;q=0': 'gzip',
    'GZIP ; Q=0.3': 'gzip',
    'gzip;q=0': undefined,
    'gzip;q=0.5, identity': undefined,
    'gzip;q=2': undefined,
    'deflate, zstd': undefined,
    identity: undefined,
    '': undefined,
  }
  const chosen = Object.keys(choices).map((header) => [header, chooseEncoding(header)])
  expect(Object.fromEntries(chosen)).toEqual(choices)
  expect(chooseEncoding(undefined)).toBeUndefined()
})
