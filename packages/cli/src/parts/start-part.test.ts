import { once } from 'node:events'
import { expect, test } from 'vitest'
import { startPart } from './start-part.ts'

const hostile = [
  // Node treats such messages as its own, and asserts that a handle was sent.
  '{"cmd":"NODE_HANDLE_ACK"}',
  '{"cmd":"NODE_HANDLE","type":"none"}',
  'not JSON',
  '[[[',
  'null',
]

test.for(hostile)(
  'a part that is another user ends nothing by what it says over its channel: %s',
  async (line) => {
    using part = partSaying(`printf '%s\\n' "$1" '{"ready":true}' >&3; exit 7`, line)
    const [code] = await once(part.child, 'close')
    expect(code).toBe(7)
  },
)

test('a part that is another user is heard once, and may say more than it is kept of', async () => {
  using part = partSaying(
    `printf '%s\\n' '{"url":"here"}' '{"url":"there"}' >&3; head -c 9000000 /dev/zero >&3`,
  )
  const news: unknown[] = []
  part.child.on('message', (each) => news.push(each))
  await once(part.child, 'close')
  expect(news).toEqual([{ url: 'here' }])
  using endless = partSaying('head -c 9000000 /dev/zero >&3')
  endless.child.on('message', (each) => news.push(each))
  await once(endless.child, 'close')
  expect(news).toHaveLength(1)
})

test('a program of Node finds the channel as it is used to, and learns when its parent lets go', async () => {
  const code = 'process.send({ ready: true, url: "here" }); process.once("disconnect", () => process.exit(5))'
  const child = startPart({ program: process.execPath, args: ['-e', code], env: {}, isOther: true })
  expect(await once(child, 'message')).toEqual([{ ready: true, url: 'here' }])
  const ended = once(child, 'exit')
  child.stdio[3]?.destroy()
  expect(await ended).toEqual([5, null])
})

function partSaying(script: string, ...args: readonly string[]) {
  const env = { PATH: '/usr/bin:/bin' }
  const child = startPart({ program: '/bin/sh', args: ['-c', script, 'part', ...args], env, isOther: true })
  return { child, [Symbol.dispose]: () => void child.kill('SIGKILL') }
}
