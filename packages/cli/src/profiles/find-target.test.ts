import { expect, test } from 'vitest'
import { findTarget, type TargetFlags } from './find-target.ts'
import type { Config, ProfileFiles } from './profile-files.ts'

const prod = 'https://prod.example.org'
const staging = 'https://staging.example.org'
const config: Config = { current: 'prod', profiles: { prod: { server: prod }, bare: {} } }

function find(env: NodeJS.ProcessEnv, flags: TargetFlags, known: Config = config) {
  const files = { folder: '', readConfig: () => known, readLogin: () => undefined } as Partial<ProfileFiles>
  const { server, token } = findTarget(files as ProfileFiles, env, flags)
  return [server?.value, token?.value]
}

test('the token of the environment is sent to the server of the environment, and to no other', () => {
  const env = { FAIRLEAD_SERVER: staging, FAIRLEAD_TOKEN: 'secret' }
  expect(find(env, {})).toEqual([staging, 'secret'])
  expect(find(env, { server: `${staging}:443/` })).toEqual([staging, 'secret'])
  expect(find(env, { server: prod })).toEqual([prod, undefined])
  expect(find({ FAIRLEAD_TOKEN: 'secret' }, { server: prod })).toEqual([prod, 'secret'])
  expect(find({ FAIRLEAD_TOKEN: 'secret' }, {})).toEqual([prod, 'secret'])
})

test('a profile of the command line and a server of the environment that are not the same are refused', () => {
  expect(() => find({ FAIRLEAD_SERVER: staging }, { profile: 'prod' })).toThrow(
    `profile prod is for ${prod}, and FAIRLEAD_SERVER says ${staging}`,
  )
  expect(find({ FAIRLEAD_SERVER: prod }, { profile: 'prod' })).toEqual([prod, undefined])
  expect(find({ FAIRLEAD_SERVER: staging }, { profile: 'prod', server: prod })).toEqual([prod, undefined])
})

test('a current profile that is not there is told, and does not mean this machine', () => {
  expect(() => find({}, {}, { current: 'gone', profiles: {} })).toThrow('there is no profile gone')
  expect(find({}, {}, {})).toEqual([undefined, undefined])
})

test('local is the server of this machine, also while another profile is current, and takes no other server', () => {
  expect(find({}, { profile: 'local' })).toEqual([undefined, undefined])
  expect(find({ FAIRLEAD_PROFILE: 'local' }, { server: prod })).toEqual([prod, undefined])
  const taken = 'profile local is the server of this machine'
  expect(() => find({ FAIRLEAD_SERVER: prod }, { profile: 'local' })).toThrow(taken)
  expect(() => find({}, { profile: 'local', server: prod })).toThrow(taken)
})

test('a profile that is not current is not used because it is named default', () => {
  expect(find({}, {}, { profiles: { default: { server: prod } } })).toEqual([undefined, undefined])
})
