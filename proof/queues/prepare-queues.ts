import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { unpackedQueues } from './queues.ts'

const run = promisify(execFile)
/** For a slow network. */
const WITHIN = { timeout: 300_000, maxBuffer: 64 * 1024 * 1024 }
const ofNpm = ['bullmq@6.7.0', 'bee-queue@2.0.0', 'ioredis@6.0.0']
const ofDebian = ['python3-celery', 'python3-rq', 'python3-redis', 'ruby-sidekiq']
/** The C library and what belongs to the system, which each Debian has. */
const notWanted =
  /^(libc6|libgcc|libcrypt1|gcc-|tar|dpkg|debconf|tzdata|openssl|ca-certificates|fonts-|libjs-|libselinux|libacl|libpcre)/

/**
 * Unpacks the job queues of queues.ts into .fairlead, once: from npm without install scripts, and from the
 * Debian of this machine, of which nothing is installed. Throws without a network.
 */
export async function prepareQueues(): Promise<void> {
  if (existsSync(unpackedQueues)) return
  const made = `${unpackedQueues}.${process.pid}`
  try {
    await mkdir(join(made, 'npm'), { recursive: true })
    await mkdir(join(made, 'debs'))
    await writeFile(join(made, 'npm/package.json'), '{"private":true}')
    const plain = ['--omit=peer', '--legacy-peer-deps', '--ignore-scripts', '--no-audit', '--no-fund']
    await run('npm', ['install', ...plain, ...ofNpm], { ...WITHIN, cwd: join(made, 'npm') })
    const apart = ['-o', 'Dir::State::status=/dev/null', 'install', '-s', '--no-install-recommends']
    const { stdout } = await run('apt-get', [...apart, ...ofDebian], WITHIN)
    const names = [...stdout.matchAll(/^Inst (\S+)/gm)].flatMap(([, name = '']) =>
      notWanted.test(name) ? [] : [name],
    )
    const debs = join(made, 'debs')
    await run('apt-get', ['download', ...names], { ...WITHIN, cwd: debs })
    for (const deb of await readdir(debs))
      await run('dpkg', ['-x', join(debs, deb), join(made, 'debian')], WITHIN)
    await rm(debs, { recursive: true })
    await rename(made, unpackedQueues)
  } finally {
    await rm(made, { recursive: true, force: true })
  }
}
