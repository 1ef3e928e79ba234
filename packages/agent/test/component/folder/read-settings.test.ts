import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readSettings } from '../../../src/folder/read-settings.ts'
import { connectAs, makeHome, makeSpec } from '../../agent-home.ts'
import { engines } from '../../engines.ts'

test('secrets are left out, by their names and by their values', () => {
  const secret = ['masterauth', 'primaryauth', 'requirepass', 'tls-key-file-pass', 'tls-client-key-file-pass']
  const reply = [...secret, 'some-module-password', 'api-token'].flatMap((name) => [name, 'hush'])
  const harmless = ['masteruser', 'fairlead', 'tls-auth-clients', 'yes', 'save', '', 'maxmemory', '0']
  const spec = { adminPassword: 'mine-alone', userPassword: 'yes' }
  expect(readSettings([...reply, ...harmless, 'proc-title-template', 'is mine-alone!'], spec)).toEqual({
    masteruser: 'fairlead',
    'tls-auth-clients': 'yes',
    save: '',
    maxmemory: '0',
  })
})

test.for(engines.map(({ flavour, version }) => ({ flavour, version })))(
  'a process starts with the encodings of its primary, which its baseline does not have: $flavour $version',
  async (build) => {
    await using home = await makeHome()
    await using _ = await home.start()
    const encodings = { 'hash-max-ziplist-entries': 2_000, 'list-max-ziplist-size': -3 }
    const spec = await makeSpec({ build, encodings: { ...encodings, 'set-max-listpack-entries': 99 } })
    const params = { id: 'a-1' }
    await home.client.putShard({ params, body: spec })
    await home.becomes('a-1', { state: 'running' })
    using admin = await connectAs('fairlead', spec)
    for (const [name, value] of Object.entries(encodings))
      expect(await admin.call('CONFIG', 'GET', name)).toEqual([name, String(value)])
    const { settings } = await home.client.readBaseline({ params })
    expect(settings).toMatchObject({
      'hash-max-ziplist-entries': '',
      'hash-max-listpack-entries': '',
      hz: '10',
    })

    // The next process has them too, though a spec says nothing of them.
    const { encodings: _said, ...silent } = spec
    await home.client.putShard({ params, body: { ...silent, revision: 'second' } })
    await home.becomes('a-1', { state: 'running', revision: 'second' })
    using next = await connectAs('fairlead', spec)
    expect(await next.call('CONFIG', 'GET', 'hash-max-ziplist-entries')).toEqual([
      'hash-max-ziplist-entries',
      '2000',
    ])
  },
)

test.for(engines.map(({ flavour, version }) => ({ flavour, version })))(
  'a baseline has the settings at the start of the process, whatever is set later, and each process has its own: $flavour $version',
  async (build) => {
    await using home = await makeHome()
    const spec = await makeSpec({ build, memoryBytes: 64 * 1024 * 1024 })
    const baseline = async () => (await home.client.readBaseline({ params: { id: 'a-1' } })).settings
    {
      await using _ = await home.start()
      expect(await baseline()).toBe(null)
      await home.client.putShard({ params: { id: 'a-1' }, body: spec })
      await home.becomes('a-1', { state: 'running' })
    }
    using admin = await connectAs('fairlead', spec)
    const [name, atStart] = (await admin.call('CONFIG', 'GET', 'set-max-intset-entries')) as string[]
    await admin.call('CONFIG', 'SET', 'set-max-intset-entries', 99)

    // The next agent knows it, too.
    await using _ = await home.start()
    const settings = await baseline()
    expect(settings).toMatchObject({
      port: String(spec.port),
      maxmemory: '67108864',
      appendonly: 'no',
      masteruser: 'fairlead',
      [name ?? '']: atStart,
    })
    expect(Object.keys(settings ?? {}).length).toBeGreaterThan(140)
    const text = readFileSync(join(home.path, 'shards', 'a-1', 'baseline.json'), 'utf8')
    for (const shown of [text, JSON.stringify(settings)]) {
      expect(shown).not.toContain(spec.adminPassword)
      expect(shown).not.toMatch(/"(masterauth|primaryauth|requirepass|tls-(client-)?key-file-pass)"/)
    }

    const second = { ...spec, revision: 'second', memoryBytes: 0 }
    await home.client.putShard({ params: { id: 'a-1' }, body: second })
    await home.becomes('a-1', { state: 'running', revision: 'second' })
    expect(await baseline()).toMatchObject({ maxmemory: '0' })
  },
)

test('settings that the agent makes once a process has loaded its data belong to the baseline', async () => {
  await using home = await makeHome()
  await using _ = await home.start()
  const spec = await makeSpec()
  await home.client.putShard({ params: { id: 'a-1' }, body: spec })
  await home.becomes('a-1', { state: 'running' })
  const second = { ...spec, revision: 'second', persistence: 'aof' as const }
  using client = await connectAs('default', spec)
  await client.call('SET', 'key', 'value')
  await home.client.putShard({ params: { id: 'a-1' }, body: second })
  await home.becomes('a-1', { state: 'running', revision: 'second' })
  const { settings } = await home.client.readBaseline({ params: { id: 'a-1' } })
  expect(settings).toMatchObject({ appendonly: 'yes' })
})
