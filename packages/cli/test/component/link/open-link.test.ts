import { expect, test } from 'vitest'
import { openLink } from '../../../src/link/open-link.ts'
import { LOCAL, type Target } from '../../../src/profiles/find-target.ts'
import type { ProfileFiles } from '../../../src/profiles/profile-files.ts'

const open = (target: Partial<Target>) =>
  openLink(
    {
      profile: { value: LOCAL, from: 'default' },
      settings: {},
      server: undefined,
      token: undefined,
      login: undefined,
      caFile: undefined,
      ...target,
    },
    { files: {} as ProfileFiles, env: { FAIRLEAD_HOME: '/nonexistent' }, withinMs: 1_000 },
  )

test('what names a server, or a token for one, never ends at the socket of this machine', async () => {
  await expect(open({})).rejects.toThrow('no server answers on /nonexistent')
  await expect(open({ token: { value: 'secret', from: 'environment' } })).rejects.toThrow(
    'FAIRLEAD_TOKEN is set, and no server is named that it is for',
  )
  for (const from of ['flag', 'environment', 'profile'] as const)
    await expect(open({ profile: { value: 'prod', from } })).rejects.toThrow('profile prod names no server')
})

test('a protected profile is one, also where the file was written by hand', async () => {
  const server = { value: 'https://prod.example.org', from: 'profile' } as const
  const written = (settings: object) => open({ server, settings })
  expect(await written({ protected: 'true' })).toMatchObject({ isProtected: true })
  expect(await written({ protected: false })).toMatchObject({ isProtected: false })
  expect(await written({})).toMatchObject({ isProtected: false })
})
