import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { findTarget } from './find-target.ts'
import { openProfileFiles } from './profile-files.ts'

const folder = mkdtempSync(join(tmpdir(), 'fairlead-profiles-'))
afterAll(() => rmSync(folder, { recursive: true }))

function targetOf(config: string, logins = '{}') {
  writeFileSync(join(folder, 'config.json'), config)
  writeFileSync(join(folder, 'credentials.json'), logins, { mode: 0o600 })
  return () => findTarget(openProfileFiles({ FAIRLEAD_CONFIG: folder }), {}, {})
}

test.each([
  ['[]', 'it is not a JSON object'],
  ['{"current": 5}', 'current is not a text'],
  ['{"profiles": null}', 'profiles is not an object'],
  ['{"profiles": {"default": null}}', 'profiles.default is not an object'],
  [
    '{"profiles": {"default": {"server": ["https://a.example.org"]}}}',
    'profiles.default.server is not a text',
  ],
  ['{"profiles": {"default": {"ca": 5}}}', 'profiles.default.ca is not a text'],
])('a file of profiles like %s is refused, and says what is wrong', (config, why) => {
  expect(targetOf(config)).toThrow(`${join(folder, 'config.json')} is damaged: ${why}`)
})

test('what is no token is not sent: one with a line end would be a header of its own', () => {
  const server = 'https://a.example.org'
  const config = `{"current": "default", "profiles": {"default": {"server": "${server}"}}}`
  const login = { server, username: 'eve', token: 'secret', issuedMs: 1, endsMs: 2 }
  expect(targetOf(config, JSON.stringify({ default: login }))().login).toEqual(login)
  for (const token of [5, '', 'a\r\nX-Other: b'])
    expect(targetOf(config, JSON.stringify({ default: { ...login, token } }))).toThrow('default is no token')
  const files = openProfileFiles({ FAIRLEAD_CONFIG: join(folder, 'none') })
  const env = { FAIRLEAD_SERVER: server, FAIRLEAD_TOKEN: 'a\nb' }
  expect(() => findTarget(files, env, {})).toThrow('FAIRLEAD_TOKEN has spaces, line ends')
})

test.each(['__proto__', 'constructor', 'toString'])('a profile may be called %s', (name) => {
  const server = 'https://a.example.org'
  const profile = { server, username: 'eve', token: 'secret', issuedMs: 1, endsMs: 2 }
  const files = openProfileFiles({ FAIRLEAD_CONFIG: join(folder, name) })
  const flags = { profile: name }
  expect(() => findTarget(files, {}, flags)).toThrow(`there is no profile ${name}`)
  files.changeConfig(() => ({ profiles: { [name]: { server } } }))
  files.keepLogin(name, profile)
  expect(findTarget(files, {}, flags)).toMatchObject({ server: { value: server }, login: profile })
})
