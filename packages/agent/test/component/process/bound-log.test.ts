import { constants } from 'node:fs'
import { appendFile, mkdtemp, open, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { shardFolder } from '../../../src/folder/shard-folder.ts'
import { watchTrouble } from '../../../src/folder/watch-trouble.ts'
import { boundLog, KEPT_LOG_BYTES, MOST_LOG_BYTES } from '../../../src/process/bound-log.ts'
import { readLog } from '../../../src/process/engine-log.ts'
import { connectAs, makeHome, makeSpec, until } from '../../agent-home.ts'
import { engines } from '../../engines.ts'

const line = (text: string) => `12:M 21 Nov 2026 03:51:02.123 # ${text}\n`
const long = line('x'.repeat(1_000)).repeat(Math.ceil(MOST_LOG_BYTES / 1_000))

describe('a log that is too long', () => {
  test('is cut to its last lines, and its process goes on to append to it', async () => {
    await using folder = await makeFolder()
    const path = join(folder.path, 'engine.log')
    await using process = await open(path, constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT)
    await process.write(long)
    expect(await boundLog(path)).toBe(true)
    await process.write(line('after'))
    const { bytes } = await readLog(path, 0, MOST_LOG_BYTES)
    expect(bytes.length).toBeLessThanOrEqual(KEPT_LOG_BYTES + 100)
    const lines = bytes.toString('utf8').split('\n').slice(0, -1)
    expect(lines.at(-1)).toBe(line('after').trimEnd())
    expect(new Set(lines.slice(0, -1).map((each) => each.length)).size).toBe(1)
    expect(await boundLog(path)).toBe(false)
  })

  test('is read on after it was cut: later lines of its process are found', async () => {
    await using folder = await makeFolder()
    const path = join(folder.path, 'engine.log')
    const watch = watchTrouble(path)
    const sees = async (trouble: string) => {
      const look = async () => {
        await watch.look({ startedAt: 1, logFrom: 9_000_000, secrets: [] })
        return watch.of(1) === trouble
      }
      await until(look, { what: () => watch.of(1) })
    }
    await writeFile(path, long + line('Background saving error'))
    await sees('Background saving error')
    await boundLog(path)
    await appendFile(path, `${line('Something else')}${line('AOF rewrite failed')}`)
    await sees('AOF rewrite failed')
  })
})

// invariant: The log of an engine does not fill the disk, whatever its clients write.
test.for(engines.map((engine) => [`${engine.flavour} ${engine.version}`, engine] as const))(
  'a script that writes to the log endlessly takes some megabytes of the disk, not all of it: %s',
  async ([, engine]) => {
    await using home = await makeHome()
    await using _ = await home.start()
    const spec = await makeSpec({}, engine)
    await home.client.putShard({ params: { id: 'a-1' }, body: spec })
    await home.becomes('a-1', { state: 'running' })
    using client = await connectAs('default', spec)
    const { log } = shardFolder(home.path, 'a-1')
    const fill = "for n = 1, 20000 do redis.log(redis.LOG_WARNING, string.rep('x', 1000)) end"
    await client.call('EVAL', fill, 0)
    await until(() => home.logged().includes('was cut to its last part'))
    await client.call('EVAL', "redis.log(redis.LOG_WARNING, 'AOF: failed, says a script')", 0)
    await until(async () => (await home.shard('a-1'))?.trouble.includes('says a script') ?? false)
    // 20 MB were written: lines after the cut stay, too.
    expect((await stat(log)).size).toBeLessThan(KEPT_LOG_BYTES + 5 * 1024 * 1024)
  },
)

async function makeFolder() {
  const path = await mkdtemp(join(tmpdir(), 'log-'))
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) }
}
