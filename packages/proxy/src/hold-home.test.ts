import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { holdHome } from './hold-home.ts'

const program = fileURLToPath(new URL('./hold-home.ts', import.meta.url))

// Names of the abstract namespace belong to a network: containers on one volume do not see each other's.
test.runIf(process.getuid?.() === 0)(
  'a proxy in another container has the home, and leaves it when it is killed',
  async () => {
    const home = await mkdtemp(join(tmpdir(), 'proxy-'))
    try {
      const code = `import { holdHome } from ${JSON.stringify(program)}
      await holdHome(${JSON.stringify(home)})
      console.log('held')
      setInterval(() => undefined, 1_000)`
      const args = ['--net', process.execPath, '--input-type=module', '-e', code]
      const other = spawn('unshare', args, { stdio: ['ignore', 'pipe', 'inherit'] })
      try {
        await once(other.stdout, 'data', { signal: AbortSignal.timeout(10_000) })
        await expect(holdHome(home)).rejects.toThrow(`another proxy runs on ${home}`)
      } finally {
        other.kill('SIGKILL')
        await once(other, 'exit')
      }
      await using _ = await holdHome(home)
    } finally {
      await rm(home, { recursive: true })
    }
  },
)
