import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { holdHome } from '../../../src/listen/hold-home.ts'

const program = fileURLToPath(new URL('../../../src/listen/hold-home.ts', import.meta.url))

// Names of the abstract namespace belong to a network: containers on one volume do not see each other's.
test.runIf(process.getuid?.() === 0)(
  'a proxy in another container holds the home, and frees it when it is killed',
  async () => {
    const home = await mkdtemp(join(tmpdir(), 'proxy-'))
    try {
      const code = `import { holdHome } from ${JSON.stringify(program)}
      await holdHome(${JSON.stringify(home)}, ${JSON.stringify(join(home, 'proxy.sock'))})
      console.log('held')
      setInterval(() => undefined, 1_000)`
      const node = [process.execPath, '--conditions=@fairlead/source']
      const args = ['--net', ...node, '--input-type=module', '-e', code]
      const other = spawn('unshare', args, { stdio: ['ignore', 'pipe', 'inherit'] })
      try {
        await once(other.stdout, 'data', { signal: AbortSignal.timeout(60_000) })
        await expect(holdHome(home, join(home, 'proxy.sock'))).rejects.toThrow(
          `another proxy runs on ${home}`,
        )
      } finally {
        other.kill('SIGKILL')
        await once(other, 'exit')
      }
      using _ = await holdHome(home, join(home, 'proxy.sock'))
    } finally {
      await rm(home, { recursive: true })
    }
  },
)

test('an older proxy, which does not lock a file, holds the home while it serves its socket', async () => {
  const home = await mkdtemp(join(tmpdir(), 'proxy-'))
  const path = join(home, 'proxy.sock')
  const before = createServer().listen(path)
  try {
    await once(before, 'listening')
    await expect(holdHome(home, path)).rejects.toThrow(`another proxy runs on ${home}`)
    before.close()
    await once(before, 'close')
    using _ = await holdHome(home, path)
  } finally {
    before.close()
    await rm(home, { recursive: true })
  }
})
