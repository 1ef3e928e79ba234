import { existsSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { BuildFetch } from '@fairlead/api'
import pino from 'pino'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { until } from '../../../../../proof/until.ts'
import { type Fetches, openFetches } from '../../../src/builds/open-fetches.ts'
import { identifyProcess } from '../../../src/process/process-identity.ts'
import { makeHome } from '../../agent-home.ts'

const hasApt = existsSync('/usr/bin/apt-get')
const logger = pino({ level: 'silent' })
const valkey = { flavour: 'valkey', version: '8.1', alsoUnstable: false }
/** Nothing listens there. */
const unreachable = { http_proxy: 'http://127.0.0.1:9', https_proxy: 'http://127.0.0.1:9' }

let home: string
let folder: string
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'fetches-'))
  folder = join(home, 'engines')
})
afterEach(() => rm(home, { recursive: true }))

async function script(path: string, text: string): Promise<string> {
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, `#!/bin/sh\n${text}\n`)
  await chmod(path, 0o755)
  return path
}

/** A machine whose apt waits for good, after it has written its environment to `seen`. */
async function slowApt() {
  const seen = join(home, 'seen')
  await script(
    join(home, 'bin/apt-get'),
    `(env; echo PID=$$) > '${seen}.part'; mv '${seen}.part' '${seen}'; exec sleep 1000`,
  )
  return { env: { PATH: `${home}/bin:${process.env['PATH']}` }, seen }
}

const untilEnded = (fetches: Fetches, id: string): Promise<BuildFetch> =>
  until('the end of the fetch', () => fetches.list().find((one) => one.id === id && one.state !== 'running'))

test('a build that is there already ends as done, without apt', async () => {
  const program = await script(join(folder, 'mine/bin/valkey-server'), 'echo "Valkey server v=8.1.7 sha=0"')
  await using fetches = openFetches({ folder, env: { PATH: '/nowhere' } }, logger)
  const { id, state } = fetches.start(valkey)
  expect(state).toBe('running')
  const build = { flavour: 'valkey', version: '8.1.7', source: 'folder', program }
  expect(await untilEnded(fetches, id)).toMatchObject({ ...valkey, state: 'done', build, fault: null })
})

test.runIf(hasApt)(
  'an archive that cannot be reached is a failed fetch, and the folder that it made is open to other users',
  async () => {
    const before = process.umask(0o077)
    await using _ = { [Symbol.asyncDispose]: async () => void process.umask(before) }
    await using fetches = openFetches({ folder, env: { ...process.env, ...unreachable } }, logger)
    const ended = await untilEnded(fetches, fetches.start(valkey).id)
    expect(ended).toMatchObject({ state: 'failed', fault: { code: 'unreachable' }, build: null })
    expect(ended.fault?.why).toMatch(/^[^\n]+$/)
    expect(ended.line).toContain('valkey 8.1')
    expect([await readdir(folder), (await stat(folder)).mode & 0o777]).toEqual([[], 0o755])
  },
)

test('a build that is asked for twice is fetched once, and two are fetched at a time', async () => {
  const { env } = await slowApt()
  await using fetches = openFetches({ folder, env }, logger)
  const first = fetches.start(valkey)
  expect(fetches.start(valkey)).toEqual(first)
  const second = fetches.start({ ...valkey, alsoUnstable: true })
  const refused = expect.objectContaining({ code: 'too_many_requests' })
  expect(() => fetches.start({ ...valkey, version: null })).toThrow(refused)
  expect(fetches.list().map(({ id }) => id)).toEqual([second.id, first.id])
})

test('the last ten fetches are kept, the newest first', async () => {
  await using fetches = openFetches({ folder, env: {} }, logger)
  for (let n = 0; n < 12; n += 1) {
    const { id } = fetches.start({ ...valkey, flavour: `engine-${n}` })
    expect(await untilEnded(fetches, id)).toMatchObject({ state: 'failed', fault: { code: 'bad_request' } })
  }
  const names = fetches.list().map(({ flavour }) => flavour)
  expect(names).toEqual(Array.from({ length: 10 }, (_, n) => `engine-${11 - n}`))
})

test('the end of the agent ends the programs of a fetch, and apt was given none of its secrets', async () => {
  const { env, seen } = await slowApt()
  const secrets = { FAIRLEAD_ADMIN_PASSWORD: 'the-secret', PGPASSWORD: 'the-secret', http_proxy: 'http://p' }
  const fetches = openFetches({ folder, env: { ...env, ...secrets } }, logger)
  const { id } = fetches.start(valkey)
  const given = await until('apt is started', () => readFile(seen, 'utf8').catch(() => null))
  expect(given).not.toContain('the-secret')
  expect(given).toContain('http_proxy=http://p')
  await fetches[Symbol.asyncDispose]()
  expect(fetches.list()).toMatchObject([{ id, state: 'failed' }])
  expect(identifyProcess(Number(/^PID=(\d+)$/m.exec(given)?.[1]))).toBeNull()
})

test('an agent answers which fetches run and which have ended', async () => {
  await using agent = await makeHome()
  await using _ = await agent.start({ fetchPlace: { folder, env: {} } })
  expect(await agent.client.listFetches({})).toEqual([])
  const begun = await agent.client.startFetch({ body: { ...valkey, flavour: 'postgres' } })
  expect(begun).toMatchObject({ flavour: 'postgres', state: 'running', endedAt: null })
  const [ended] = await until('the end of the fetch', async () => {
    const all = await agent.client.listFetches({})
    return all.some(({ state }) => state === 'running') ? null : all
  })
  expect(ended).toMatchObject({ id: begun.id, state: 'failed', fault: { code: 'bad_request' } })
})
