import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, test, vi } from 'vitest'

const main = join(import.meta.dirname, '../../src/main.ts')

/** Notes each module that is loaded, on stderr. */
const noting = `data:text/javascript,${encodeURIComponent(`
import { registerHooks } from 'node:module'
import { writeSync } from 'node:fs'
registerHooks({
  load(url, context, next) {
    if (url.startsWith('file:')) writeSync(2, url + '\\n')
    return next(url, context)
  },
})`)}`

/** What a command line has printed, and the files that it loaded. */
function run(...args: readonly string[]) {
  const node = ['--conditions=@fairlead/source', '--import', noting, main, ...args]
  const { status, stdout, stderr } = spawnSync(process.execPath, node, { encoding: 'utf8' })
  return { status, stdout, loaded: stderr.split('\n').filter((line) => line.startsWith('file:')) }
}

test('a command that speaks to a server loads neither the server nor the schemas of the API', () => {
  const { stdout, loaded } = run('whoami', '--server', 'http://127.0.0.1:1', '--profile', 'none-of-mine')
  expect(stdout).toBe('')
  expect(loaded.some((url) => url.endsWith('/commands/sign-in.ts'))).toBe(true)
  const allowed = /\/packages\/(api\/src\/(lean|without-schemas|operation-table|client\/|contract\/))/
  expect(others(loaded).filter((url) => !allowed.test(url))).toEqual([])
})

const others = (loaded: readonly string[]) =>
  loaded.filter((url) => !url.includes('/packages/cli/src/') && !url.includes('/node_modules/commander/'))

test.each([
  [['--help'], 'Usage: fairlead'],
  [['--version'], '0.1.0'],
  [['engines', '--help'], 'Usage: fairlead engines'],
  [['modules', 'pack', '--help'], '--capability'],
  [['completion', 'bash'], 'complete -o default -F _fairlead fairlead'],
  [['__complete', 'who', ':'], ''],
  [['__complete', ':who'], 'whoami\t'],
  [['__complete', 'whoami', '--output', ':j'], 'json\t\njsonl\t\n'],
])('%j loads nothing but its own tree of commands', (args, text) => {
  const { status, stdout, loaded } = run(...args)
  expect([status, stdout]).toEqual([0, expect.stringContaining(text)])
  expect(loaded.some((url) => url.endsWith('/run-program.ts'))).toBe(true)
  expect(others(loaded)).toEqual([])
  // Nor what prints the answer of a command.
  expect(loaded.filter((url) => /output\/(print-answer|draw-table|to-yaml)\.ts$/.test(url))).toEqual([])
  const commands = loaded.filter((url) => url.includes('/cli/src/commands/'))
  expect(commands.filter((url) => !/completion\/(complete|shell-scripts)\.ts$/.test(url))).toEqual([])
})

test.each(['agent', 'up'])('%s loads neither the store nor the API of a server', (part) => {
  vi.stubEnv('FAIRLEAD_HOME', '/dev/null/no-home')
  const { status, loaded } = run(part)
  vi.unstubAllEnvs()
  expect(status).not.toBe(0)
  expect(loaded.some((url) => url.endsWith(`/commands/${part}.ts`))).toBe(true)
  expect(loaded.filter((url) => /node_modules\/(better-sqlite3|kysely|pg)\//.test(url))).toEqual([])
  const ofServer = /\/packages\/server\/src\/(?!((settings|sockets)-entry|config\/[^/]*|core\/.*)\.ts)/
  expect(loaded.filter((url) => ofServer.test(url))).toEqual([])
})

test.each([
  [['--help']],
  [['help', 'exit-codes']],
  [['completion', 'bash']],
  [['engines', 'list', '--json']],
])('when nothing reads what %j prints, the command ends, and all is well', async (args) => {
  const child = spawn(process.execPath, ['--conditions=@fairlead/source', main, ...args])
  child.stdout.destroy()
  const [said, [code]] = await Promise.all([text(child.stderr), once(child, 'close')])
  expect([said, code]).toEqual(['', 0])
})
