import { X509Certificate } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { openTestStore } from '../../test/open-test-store.ts'
import { onlyLoopback } from '../core/state/endpoint-reach.ts'
import { createSecretBox } from '../store/secret-box.ts'
import { createTls } from './tls-service.ts'

const DAY_MS = 24 * 60 * 60 * 1000
const [SERVER, CLIENT] = ['1.3.6.1.5.5.7.3.1', '1.3.6.1.5.5.7.3.2']

test('the shards of each database have an authority of their own, and a certificate that is renewed in time', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'fairlead-shards-'))
  using _ = { [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }) }
  await using store = await openTestStore(join(folder, 'store.db'))
  const box = createSecretBox(Buffer.alloc(32, 7))
  let nowMs = Date.parse('2026-01-01')
  const open = () =>
    createTls({ reach: () => onlyLoopback, store, box, now: () => nowMs, log: pino({ level: 'silent' }) })
  const tls = open()

  const first = await tls.shards(7)
  const [authority, leaf] = [new X509Certificate(first.ca), new X509Certificate(first.cert)]
  expect([authority.ca, leaf.ca]).toEqual([true, false])
  expect(leaf.checkIssued(authority) && leaf.verify(authority.publicKey)).toBe(true)
  expect([...(leaf.keyUsage as readonly string[])].toSorted()).toEqual([SERVER, CLIENT])
  expect(leaf.verify(new X509Certificate((await tls.shards(8)).ca).publicKey)).toBe(false)
  expect(leaf.verify(new X509Certificate((await tls.current()).ca).publicKey)).toBe(false)

  nowMs += 240 * DAY_MS
  expect(await open().shards(7)).toEqual(first)
  nowMs += 10 * DAY_MS
  const second = await tls.shards(7)
  expect(second.ca).toBe(first.ca)
  expect(second.cert).not.toBe(first.cert)
  const kept = await store.db.selectFrom('tls_certificates').select(['name', 'private_key']).execute()
  expect(kept.map(({ name }) => name)).toEqual(expect.arrayContaining(['shards-ca:7', 'shards:7']))
  expect(kept.filter(({ private_key }) => private_key.includes('PRIVATE KEY'))).toEqual([])
})
