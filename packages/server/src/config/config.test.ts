import { expect, test } from 'vitest'
import { ConfigError, loadConfig } from './config.ts'

test('an empty environment is a sound configuration', () => {
  const config = loadConfig({ PATH: '/bin', FAIRLEAD_HTTP_PORT: '' })
  expect(config).toMatchObject({
    httpPort: 8080,
    sentinelPort: 0,
    proxyWorkers: undefined,
    adminUsername: 'admin',
    adminPassword: undefined,
    portRange: { from: 10_000, to: 10_999 },
    askedPorts: { from: 10_000, to: 19_999 },
    hostNames: [],
  })
  expect(config.engines).toBe(`${config.home}/engines`)
})

test('every fault is named at once, with the value, but never a password', () => {
  const load = () =>
    loadConfig({
      FAIRLEAD_HTTP_PORT: '80a',
      FAIRLEAD_PORT_RANGE: '5-1',
      FAIRLEAD_PROXY_WORKERS: '0',
      FAIRLEAD_ADMIN_PASSWORD: 'tiny',
      FAIRLEAD_HOEM: 'x',
      FAIRLEAD_BOOTSTRAP_SECRET: 'short-secret',
      FAIRLEAD_HOST_NAMES: 'a.example.org, b:80',
    })
  expect(load).toThrow(ConfigError)
  expect(load).toThrow(/FAIRLEAD_HTTP_PORT must be a whole number from 0 to 65535 \(it is "80a"\)/)
  expect(load).toThrow(/FAIRLEAD_PORT_RANGE must be two ports/)
  expect(load).toThrow(/FAIRLEAD_PROXY_WORKERS must be a whole number from 1 to 64/)
  expect(load).toThrow(/FAIRLEAD_ADMIN_PASSWORD must have 8 to 256 characters\n/)
  expect(load).toThrow(/FAIRLEAD_HOEM is not a variable of Fairlead/)
  expect(load).toThrow(/FAIRLEAD_HOST_NAMES must be names without ports/)
  expect(load).toThrow(/FAIRLEAD_BOOTSTRAP_SECRET must have 16 to 256 characters\n/)
  expect(load).not.toThrow(/tiny|short-secret/)
})

test('endpoints listen at several addresses besides loopback, each once and in its shortest form', () => {
  const read = (text: string) => loadConfig({ FAIRLEAD_ENDPOINT_ADDRESS: text }).endpointAddresses
  expect(loadConfig({})).toMatchObject({ endpointAddresses: [], endpointSuffix: null })
  expect(read('10.1.2.3, FD00:0::2,10.1.2.3')).toEqual(['10.1.2.3', 'fd00::2'])
  expect(read('127.0.0.1,127.0.0.2')).toEqual(['127.0.0.2'])
  expect(read('0.0.0.0,10.1.2.3,fd00::2')).toEqual(['0.0.0.0', 'fd00::2'])
  expect(read('::,10.1.2.3,fd00::2')).toEqual(['::', '0.0.0.0'])
})

test('a value that is no address, or no suffix, is a fault that names the variable and a right value', () => {
  for (const wrong of ['db1', '10.1.2.3:6379', 'fe80::1%eth0', '10.1.2.3/24'])
    expect(() => loadConfig({ FAIRLEAD_ENDPOINT_ADDRESS: wrong })).toThrow(
      `FAIRLEAD_ENDPOINT_ADDRESS must be addresses of this machine without ports, separated by commas, as in 10.1.2.3,fd00::2`,
    )
  const named = (suffix: string) =>
    loadConfig({ FAIRLEAD_ENDPOINT_ADDRESS: '::', FAIRLEAD_ENDPOINT_SUFFIX: suffix }).endpointSuffix
  expect(named('DB.example.net')).toBe('db.example.net')
  for (const wrong of ['.db.example.net', '*.db.example.net', '10.1.2.3', 'localhost'])
    expect(() => named(wrong)).toThrow(/FAIRLEAD_ENDPOINT_SUFFIX must be a name of two words/)
})

test('two variables may not name one port, unless it is at two addresses', () => {
  const load = (env: Record<string, string>) => loadConfig({ FAIRLEAD_HTTP_PORT: '9000', ...env })
  const said = (name: string) => `${name} must be another port than FAIRLEAD_HTTP_PORT (both are 9000)`
  for (const name of ['FAIRLEAD_HTTPS_PORT', 'FAIRLEAD_SENTINEL_PORT'])
    expect(() => load({ [name]: '9000' })).toThrow(said(name))
  expect(() => load({ FAIRLEAD_HTTPS_PORT: '9000', FAIRLEAD_HTTPS_ADDRESS: '0.0.0.0' })).toThrow(
    /both are 9000/,
  )
  expect(load({ FAIRLEAD_HTTPS_PORT: '9000', FAIRLEAD_HTTPS_ADDRESS: '192.0.2.1' }).httpsPort).toBe(9000)
  expect(load({ FAIRLEAD_HTTP_PORT: '0', FAIRLEAD_HTTPS_PORT: '0' }).httpPort).toBe(0)
})

test('a home whose socket would have too long a name is refused', () => {
  expect(() => loadConfig({ FAIRLEAD_HOME: `/${'x'.repeat(100)}` })).toThrow(/FAIRLEAD_HOME is too long/)
})
