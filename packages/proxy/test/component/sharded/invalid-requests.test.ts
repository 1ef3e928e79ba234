import { expect, test } from 'vitest'
import { askDeep, compareInputs, endless } from '../../protocol-inputs.ts'
import { keyOf, makeCluster } from '../../sharded-stage.ts'
import { newest, oldest, startEngine } from '../../stage.ts'

/**
 * A sharded endpoint reads requests itself. Where engines differ from each other, in their words or in what
 * they accept, it is like one of them: redis 7.0 takes any byte for the second of a line's end, and not every
 * byte behind a quote; valkey shows bytes that cannot be printed, and waits without end behind a zero byte in
 * a line, if it comes in pieces.
 */
const differ = [
  ...['*1\rX$4\r\nPING\r\n', '*1\r\n$4\rXPING\r\n', 'GET "a"b\r\n', 'GET a\0b\r\nPING\r\n'],
  ...['*2147483647\r\n$0\r\n', `*\0${endless('\0')}`, '*1\r\n\u0000\r\n', '*1\r\n\u00ff\r\n'],
]

test.for([...new Set([oldest, newest])])(
  'an invalid request to a sharded database gets the answer of an engine, and so does one whose reply nests as deep as engines let it: %s',
  async (build) => {
    await using cluster = await makeCluster({ build })
    await using engine = await startEngine(build)
    const ports = [engine.port, cluster.port] as const
    expect(await compareInputs(...ports, differ)).toEqual([])
    for (const [direct, through] of await askDeep(ports, `1 ${keyOf[0]}`)) expect(through).toBe(direct)
  },
)
