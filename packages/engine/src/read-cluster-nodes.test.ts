import { expect, test } from 'vitest'
import { readClusterNodes } from './read-cluster-nodes.ts'

const text = `07c37dfeb235213a872192d90877d0cd55635b91 127.0.0.1:30004@31004,,shard-id=69bc080733d1355567173199cff4a6a039a2f024 slave e7d1eecce10fd6bb5eb35b9f99a514335d9ba9ca 0 1426238317239 4 connected
67ed2db8d677e59ec4a4cefb06858cf2a1a89fa1 ::1:30002@31002,hostname2 master - 0 1426238316232 2 connected 5461-10922 [93-<-292f8b365bb7edb5e285caf0b7e6ddc7265d2f4f]
e7d1eecce10fd6bb5eb35b9f99a514335d9ba9ca :30001@31001 myself,master - 0 0 1 connected 0-5460 7000 [7000->-67ed2db8d677e59ec4a4cefb06858cf2a1a89fa1]
aaaa 127.0.0.1:30009@31009 handshake - 0 0 0 connected
`

test('nodes are read with their addresses, flags, epochs and slots', () => {
  expect(readClusterNodes(text)).toEqual([
    {
      id: '07c37dfeb235213a872192d90877d0cd55635b91',
      address: { host: '127.0.0.1', port: 30_004 },
      busPort: 31_004,
      myself: false,
      handshake: false,
      primary: 'e7d1eecce10fd6bb5eb35b9f99a514335d9ba9ca',
      epoch: 4,
      slots: '',
      leaving: [],
    },
    {
      id: '67ed2db8d677e59ec4a4cefb06858cf2a1a89fa1',
      address: { host: '::1', port: 30_002 },
      busPort: 31_002,
      myself: false,
      handshake: false,
      primary: null,
      epoch: 2,
      slots: '5461-10922',
      leaving: [],
    },
    {
      id: 'e7d1eecce10fd6bb5eb35b9f99a514335d9ba9ca',
      address: { host: '', port: 30_001 },
      busPort: 31_001,
      myself: true,
      handshake: false,
      primary: null,
      epoch: 1,
      slots: '0-5460 7000',
      leaving: [{ slot: 7000, to: '67ed2db8d677e59ec4a4cefb06858cf2a1a89fa1' }],
    },
    {
      id: 'aaaa',
      address: { host: '127.0.0.1', port: 30_009 },
      busPort: 31_009,
      myself: false,
      handshake: true,
      primary: null,
      epoch: 0,
      slots: '',
      leaving: [],
    },
  ])
})

test('false values of a node about others are printable, have valid numbers, and are bounded', () => {
  const [node] = readClusterNodes('id\x1b[2J host:1e400@99 master - 0 0 nan connected 0-1\n')
  expect(node).toMatchObject({ id: 'id?[2J', address: { host: 'host', port: 0 }, epoch: 0, slots: '0-1' })
  expect(() => readClusterNodes('a\n'.repeat(400_000))).toThrow('is not read')
})
