import { expect, test } from 'vitest'
import { numberOf, pickInfo, readInfo, readReplication } from './read-info.ts'

test('a primary is read with its history and its replicas', () => {
  const text = [
    '# Replication',
    'role:master',
    'connected_slaves:2',
    'slave0:ip=127.0.0.1,port=7002,state=online,offset=1402,lag=0,type=replica',
    'slave1:ip=127.0.0.1,port=7003,state=wait_bgsave,offset=0,lag=0',
    'master_replid:aaa',
    'master_replid2:0000000000000000000000000000000000000000',
    'master_repl_offset:1500',
    'second_repl_offset:-1',
  ].join('\r\n')
  expect(readReplication(text)).toEqual({
    role: 'primary',
    primary: null,
    link: 'down',
    syncing: false,
    replid: 'aaa',
    replid2: '0000000000000000000000000000000000000000',
    secondOffset: -1,
    offset: 1500,
    replicas: [
      { host: '127.0.0.1', port: 7002, online: true, offset: 1402 },
      { host: '127.0.0.1', port: 7003, online: false, offset: 0 },
    ],
  })
})

test('a replica is read with its primary and its offset', () => {
  const text =
    'role:slave\r\nmaster_host:127.0.0.1\r\nmaster_port:7001\r\nmaster_link_status:up\r\nmaster_sync_in_progress:0\r\nslave_repl_offset:77\r\nmaster_repl_offset:77\r\nmaster_replid:bbb\r\nmaster_replid2:aaa\r\nsecond_repl_offset:50\r\n'
  const seen = readReplication(text)
  expect(seen.role).toBe('replica')
  expect(seen.primary).toEqual({ host: '127.0.0.1', port: 7001 })
  expect([seen.link, seen.offset, seen.replid2, seen.secondOffset]).toEqual(['up', 77, 'aaa', 50])
})

test('what is no answer of INFO replication is refused', () => {
  expect(() => readReplication('hello')).toThrow('names no role')
})

test('false values of an engine are printable and short, and numbers stay finite', () => {
  const text = `role:slave\r\nmaster_host:\x1b[2J\u202eevil\r\nmaster_port:NaN\r\nrun_id:${'a'.repeat(9_000)}\r\nmaster_repl_offset:1e308\r\nslave0:ip=1,port=x,state=online,offset=Infinity\r\n__proto__:x\r\n`
  expect(readReplication(text)).toMatchObject({
    primary: { host: '?[2J?evil', port: 0 },
    offset: 0,
    replicas: [{ port: 0, offset: 0 }],
  })
  expect(readInfo(text)['run_id']).toBe(`${'a'.repeat(500)}…`)
  expect(numberOf({ a: '-1', b: '0.5', c: '-1e300' }, 'c')).toBe(0)
  expect(() => readInfo('a:1\n'.repeat(600_000))).toThrow('is not read')
})

test('the wanted fields of a text are read alone, wherever they are, with the same values as in a full reading', () => {
  const text =
    'run_id:abc\r\n# Memory\r\nmy_used_memory:1\r\nused_memory:42\r\nmaxmemory_policy:\u0007x\r\nlast:9'
  const names = ['run_id', 'used_memory', 'maxmemory', 'maxmemory_policy', 'last']
  const { my_used_memory: _, ...wanted } = readInfo(text)
  expect(pickInfo(text, names)).toEqual(wanted)
  expect(pickInfo('', names)).toEqual({})
  expect(() => pickInfo(' '.repeat(2_000_001), names)).toThrow('INFO of 2000001 characters is not read')
})
