import { expect } from 'vitest'
import type { Replay } from './replay.ts'

/** Commands to the database `{db}`, as its user may give them. */
export const commands: readonly Replay[] = [
  {
    sends: ['POST', '/v1/bdbs/{db}/command', { command: 'SET greeting "hello world"' }],
    reads: { response: 'OK' },
  },
  {
    sends: ['POST', '/v1/bdbs/{db}/command', { command: 'GET greeting' }],
    reads: { response: 'hello world' },
  },
  { sends: ['POST', '/v1/bdbs/{db}/command', { command: 'PING' }], reads: { response: 'PONG' } },
  {
    sends: ['POST', '/v1/bdbs/{db}/command', { command: ['RPUSH', 'list', 'a b', ''] }],
    reads: { response: 2 },
  },
  {
    sends: ['POST', '/v1/bdbs/{db}/command', { command: 'LRANGE list 0 -1' }],
    reads: { response: ['a b', ''] },
  },
  { sends: ['POST', '/v1/bdbs/{db}/command', { command: 'GET nothing' }], reads: { response: null } },
  {
    sends: ['POST', '/v1/bdbs/{db}/command', { command: 'LINDEX', args: ['list', '0'] }],
    reads: { response: 'a b' },
  },
  {
    sends: ['POST', '/v1/bdbs/{db}/command', { command: 'INFO server' }],
    reads: { response: expect.stringContaining('redis_version:7.0') },
  },
  {
    sends: ['POST', '/v1/bdbs/{db}/command', { command: 'LPUSH greeting a' }],
    status: 400,
    reads: { error_code: 'command_failed', message: expect.stringContaining('WRONGTYPE') },
  },
  {
    sends: ['POST', '/v1/bdbs/{db}/command', { command: 'CONFIG GET dir' }],
    status: 400,
    reads: { error_code: 'command_failed', message: expect.stringContaining('NOPERM') },
  },
  {
    sends: ['POST', '/v1/bdbs/{db}/command', { command: 'SHUTDOWN' }],
    status: 400,
    reads: { error_code: 'command_failed' },
  },
  {
    sends: ['POST', '/v1/bdbs/{db}/command', { command: 'BLPOP list 0' }],
    status: 400,
    reads: { error_code: 'command_not_allowed' },
  },
  {
    sends: ['POST', '/v1/bdbs/{db}/command', { command: 'MONITOR' }],
    status: 400,
    reads: { error_code: 'command_not_allowed' },
  },
  {
    sends: ['POST', '/v1/bdbs/{db}/command', { command: 'SUBSCRIBE a' }],
    status: 400,
    reads: { error_code: 'command_not_allowed' },
  },
  {
    sends: ['POST', '/v1/bdbs/{db}/command', { command: 'SCRIPT DEBUG YES' }],
    status: 400,
    reads: { error_code: 'command_not_allowed' },
  },
  {
    sends: ['POST', '/v1/bdbs/{db}/command', { command: '' }],
    status: 400,
    reads: { error_code: 'invalid_request' },
  },
  { sends: ['POST', '/v1/bdbs/{db}/command', {}], status: 400, reads: { error_code: 'invalid_request' } },
  {
    sends: ['POST', '/v1/bdbs/99/command', { command: 'PING' }],
    status: 404,
    reads: { error_code: 'db_not_exist' },
  },
  {
    sends: ['GET', '/v1/logs?order=desc&limit=100'],
    reads: expect.arrayContaining([
      expect.objectContaining({
        type: 'bdb_command_given',
        bdb_uid: expect.any(String),
        details: { command: 'SHUTDOWN' },
      }),
    ]),
  },
]
