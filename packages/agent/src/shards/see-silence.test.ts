import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ShardSpec } from '@fairlead/api'
import { expect, test } from 'vitest'
import { whatIsLost } from './see-silence.ts'

type Spec = Pick<ShardSpec, 'onCrash' | 'replicaOf' | 'persistence'>

const alone: Spec = { onCrash: 'restart', replicaOf: null, persistence: 'snapshot' }
const primary = { host: '127.0.0.1', port: 4_711 }

test('what is lost with a process depends on its disk when it is alone, and is known to the server otherwise', async () => {
  await using empty = await makeFolder()
  await using full = await makeFolder()
  await writeFile(join(full.data, 'dump.rdb'), 'REDIS0011')
  const answered = { answeredAt: 1 }
  const lost = (spec: Spec, folder = empty, serves = false, last: { answeredAt: number | null } = answered) =>
    whatIsLost(last, spec, folder, () => serves)
  expect(await lost(alone)).toBe('everything')
  expect(await lost(alone, full)).toBe('unsaved')
  // A snapshot from a time in which it had persistence.
  expect(await lost({ ...alone, persistence: 'disabled' }, full)).toBe('everything')
  expect(await lost({ ...alone, onCrash: 'wait' }, full)).toBe('unknown')
  expect(await lost({ ...alone, replicaOf: primary }, full, true)).toBe('nothing')
  expect(await lost({ ...alone, replicaOf: primary }, full, false)).toBe('unknown')
  expect(await lost(alone, empty, false, { answeredAt: null })).toBe('nothing')
})

async function makeFolder() {
  const data = await mkdtemp(join(tmpdir(), 'silence-'))
  return { data, [Symbol.asyncDispose]: () => rm(data, { recursive: true }) }
}
