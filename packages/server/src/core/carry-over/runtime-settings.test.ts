import { describe, expect, test } from 'vitest'
import { fc } from '../../../../../proof/properties.ts'
import { baselineOf, type Parameters, settingsToCarry } from './runtime-settings.ts'

const nothing = { set: [], unknown: [], left: [] }

function carry(now: Parameters, before: Parameters, target: Parameters) {
  return settingsToCarry(now, before, target)
}

test('what was set since the start is carried; what differs only between builds is not', () => {
  const before = { hz: '10', 'maxmemory-samples': '5', 'latency-tracking': 'yes' }
  const target = { hz: '10', 'maxmemory-samples': '7', 'latency-tracking': 'yes' }
  expect(carry({ ...before, hz: '50' }, before, target)).toEqual({ ...nothing, set: [['hz', '50']] })
  expect(carry(before, before, target)).toEqual(nothing)
})

test('what the target has already is not set again', () => {
  expect(carry({ hz: '50' }, { hz: '10' }, { hz: '50' })).toEqual(nothing)
})

describe('two names of one parameter count as one', () => {
  const names: readonly (readonly [string, string])[] = [
    ['slave-priority', 'replica-priority'],
    ['hash-max-ziplist-entries', 'hash-max-listpack-entries'],
    ['commandlog-execution-slower-than', 'slowlog-log-slower-than'],
    ['commandlog-slow-execution-max-len', 'slowlog-max-len'],
    ['lua-time-limit', 'busy-reply-threshold'],
  ]
  test.for(names)('%s, %s', ([one, other]) => {
    const both = (value: string) => ({ [one]: value, [other]: value })
    expect(carry(both('7'), both('1'), both('1'))).toEqual({ ...nothing, set: [[other, '7']] })
    expect(carry(both('7'), both('1'), { [one]: '1' })).toEqual({ ...nothing, set: [[one, '7']] })
    expect(carry({ [one]: '7' }, { [one]: '1' }, { [other]: '1' })).toEqual({
      ...nothing,
      set: [[other, '7']],
    })
    expect(carry(both('7'), both('1'), {})).toEqual({ ...nothing, unknown: [other] })
  })
})

test('a parameter that the target build does not have is named, and only if it was set', () => {
  const before = { 'active-defrag-cycle-us': '500', 'prefetch-batch-max-size': '16' }
  expect(carry({ ...before, 'active-defrag-cycle-us': '900' }, before, {})).toEqual({
    ...nothing,
    unknown: ['active-defrag-cycle-us'],
  })
})

const ofFairlead = [
  ...['replicaof', 'slaveof', 'appendonly', 'masteruser', 'primaryuser', 'masterauth', 'primaryauth'],
  ...['requirepass', 'aclfile', 'port', 'bind', 'dir', 'dbfilename', 'logfile', 'pidfile'],
]
test.for(ofFairlead)('what Fairlead manages is not carried: %s', (name) => {
  expect(carry({ [name]: 'b' }, { [name]: 'a' }, { [name]: 'c' })).toEqual(nothing)
  expect(carry({ [name]: 'b' }, { [name]: 'a' }, {})).toEqual(nothing)
})

const ofTheProcess = [
  ...['min-replicas-to-write', 'min-slaves-to-write', 'min-slaves-max-lag', 'repl-ping-slave-period'],
  ...['cluster-node-timeout', 'cluster-slave-no-failover', 'tls-port', 'io-threads', 'slave-announce-port'],
]
test.for(ofTheProcess)(
  'a setting that is bound to the process is reported until it is the same there: %s',
  (name) => {
    expect(carry({ [name]: '2' }, { [name]: '1' }, { [name]: '1' })).toEqual({ ...nothing, left: [name] })
    expect(carry({ [name]: '2' }, { [name]: '1' }, { [name]: '2' })).toEqual(nothing)
  },
)

test('a timeout that Fairlead gave the shards of a large cluster does not count as set by a person', () => {
  const timeout = (ms: number) => ({ 'cluster-node-timeout': String(ms) })
  expect(carry(timeout(20_480), timeout(5_000), timeout(5_000))).toEqual(nothing)
  expect(carry(timeout(20_000), timeout(5_000), timeout(5_000)).left).toEqual(['cluster-node-timeout'])
})

test('a backlog that was raised is never made smaller', () => {
  const backlog = (bytes: number) => ({ 'repl-backlog-size': String(bytes) })
  expect(carry(backlog(64), backlog(1), backlog(10)).set).toEqual([['repl-backlog-size', '64']])
  expect(carry(backlog(64), backlog(1), backlog(100))).toEqual(nothing)
})

test('the same buffers and the same events in other words count as equal', () => {
  const parameters = (role: string, events: string) => ({
    'client-output-buffer-limit': `normal 0 0 0 ${role} 1 1 60`,
    'notify-keyspace-events': events,
  })
  const before = parameters('slave', '')
  const now = { ...before, 'notify-keyspace-events': 'KA' }
  expect(carry(now, before, parameters('replica', 'AK'))).toEqual(nothing)
  expect(carry(now, before, parameters('replica', 'AE')).set).toEqual([['notify-keyspace-events', 'KA']])
})

test('the limits of an engine are on record, and come from there', () => {
  const limits = (bytes: string, policy: string) => ({ maxmemory: bytes, 'maxmemory-policy': policy })
  expect(carry(limits('2', 'allkeys-lru'), limits('1', 'noeviction'), limits('1', 'noeviction'))).toEqual(
    nothing,
  )
})

test('a password is in no baseline, and a parameter that is in no baseline does not count as set', () => {
  const secrets = { requirepass: 'a', masterauth: 'b', 'tls-key-file-pass': 'c', hz: '10' }
  expect(baselineOf(secrets)).toEqual({ hz: '10' })
  expect(carry(secrets, baselineOf(secrets), {})).toEqual(nothing)
  expect(carry({ 'of-a-module': '1' }, {}, { 'of-a-module': '2' })).toEqual(nothing)
})

const someParameters = fc.dictionary(
  fc.constantFrom(
    'hz',
    'slave-priority',
    'replica-priority',
    'repl-backlog-size',
    'save',
    'tls-port',
    'port',
  ),
  fc.constantFrom('1', '2', '3'),
)

test('after carrying, nothing is left to carry, and an untouched setting is never set', () => {
  fc.assert(
    fc.property(someParameters, someParameters, someParameters, (now, before, target) => {
      const first = settingsToCarry(now, before, target)
      const again = settingsToCarry(now, before, { ...target, ...Object.fromEntries(first.set) })
      expect(again).toEqual({ ...first, set: [] })
      expect(settingsToCarry(before, before, target)).toEqual(nothing)
      expect(first.set.filter(([name]) => !(name in target))).toEqual([])
    }),
  )
})
