import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { startPart } from '../../../src/parts/start-part.ts'

const hostile = [
  // Node treats such messages as its own, and asserts that a handle was sent.
  '{"cmd":"NODE_HANDLE_ACK"}',
  '{"cmd":"NODE_HANDLE","type":"none"}',
  'not JSON',
  '[[[',
  'null',
]

test.for(hostile)(
  'a part that runs as another user cannot end this process by its messages: %s',
  async (line) => {
    using part = partSaying(`printf '%s\\n' "$1" '{"ready":true}' >&3; exit 7`, line)
    const [code] = await once(part.child, 'close')
    expect(code).toBe(7)
  },
)

test('of a part that runs as another user one message is read, and more output than is kept does no harm', async () => {
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

test('a program of Node finds the channel that it expects, and notices when its parent closes it', async () => {
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

/** Starts a part that writes more than a pipe holds, and ends when that part ends. */
const COPIER = `
  import { startPart } from ${JSON.stringify(fileURLToPath(import.meta.resolve('../../../src/parts/start-part.ts')))}
  const script = 'i=0; while [ $i -lt 2000 ]; do printf "%0100d\\\\n" $i; printf "%0100d\\\\n" $i >&2; i=$((i+1)); done; exit 7'
  const part = startPart({ program: '/bin/sh', args: ['-c', script], env: { PATH: '/usr/bin:/bin' }, isOther: true })
  part.once('close', (code) => process.exit(code))`

test('a part that runs as another user goes on when its output can no longer be written', async () => {
  const copier = spawn(process.execPath, [
    '--conditions=@fairlead/source',
    '--input-type=module',
    '-e',
    COPIER,
  ])
  copier.stdout.destroy()
  copier.stderr.destroy()
  expect(await once(copier, 'close')).toEqual([7, null])
})

test('a part that cannot be started reports that by its event, wherever its output goes', async () => {
  for (const isOther of [false, true]) {
    const part = startPart({ program: '/nowhere/at-all', args: [], env: {}, isOther })
    expect(await once(part, 'error')).toMatchObject([{ code: 'ENOENT' }])
  }
})
