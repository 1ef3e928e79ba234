import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

/** Where prepare-queues.ts puts the queues: programs of Debian (`debian`) and of npm (`npm`). */
export const unpackedQueues = join(import.meta.dirname, '../../.fairlead/test-queues')

/** A job queue as its users have it: a program that works, and one that produces jobs. */
export interface JobQueue {
  /**
   * Arguments of the programs. Both get the database in HOST, PORT and PASSWORD (of `default`). The producer
   * adds jobs 1, 2, … until its standard input ends, and prints the number of each that was accepted. The
   * worker appends the number of each job that it does to the file EFFECTS. What goes wrong is on stderr.
   */
  readonly work: readonly string[]
  readonly produce: readonly string[]
}

/** Returns the queues that were unpacked, by name. */
export function jobQueues(): Readonly<Record<string, JobQueue>> {
  const debian = join(unpackedQueues, 'debian')
  const script = (name: string) => join(import.meta.dirname, name)
  const ofScript = (program: string, name: string): JobQueue => ({
    work: [program, script(name), 'work'],
    produce: [program, script(name), 'produce'],
  })
  const python = join(debian, 'usr/bin/python3')
  const ruby = join(debian, 'usr/bin/ruby')
  const sidekiq = join(debian, 'usr/bin/sidekiq')
  return {
    BullMQ: ofScript(process.execPath, 'bullmq.mjs'),
    'Bee-Queue': ofScript(process.execPath, 'bee-queue.mjs'),
    Celery: ofScript(python, 'celery_jobs.py'),
    RQ: ofScript(python, 'rq_jobs.py'),
    Sidekiq: {
      work: [ruby, sidekiq, '-r', script('sidekiq_jobs.rb'), '-c', '4'],
      produce: [ruby, script('sidekiq_jobs.rb'), 'produce'],
    },
  }
}

/** Returns the environment in which unpacked programs find their libraries. */
export function queueEnvironment(): Readonly<Record<string, string>> {
  const usr = join(unpackedQueues, 'debian/usr')
  const ruby = join(usr, 'lib/ruby')
  const machine = foldersIn(join(usr, 'lib'), /-linux-gnu$/)
  const ofVersion = (folder: string) => foldersIn(folder, /^\d/)
  return {
    PATH: '/usr/bin:/bin',
    PACKAGES: join(unpackedQueues, 'npm'),
    PYTHONHOME: usr,
    PYTHONPATH: [join(usr, 'lib/python3/dist-packages'), import.meta.dirname].join(':'),
    PYTHONDONTWRITEBYTECODE: '1',
    LD_LIBRARY_PATH: [...machine, ...foldersIn(join(usr, '../lib'), /-linux-gnu$/)].join(':'),
    GEM_PATH: foldersIn(join(usr, 'share/rubygems-integration'), /./).join(':'),
    RUBYLIB: [
      join(ruby, 'vendor_ruby'),
      ...ofVersion(ruby),
      ...machine.flatMap((folder) => [
        ...ofVersion(join(folder, 'ruby')),
        ...ofVersion(join(folder, 'ruby/vendor_ruby')),
      ]),
    ].join(':'),
  }
}

function foldersIn(folder: string, name: RegExp): readonly string[] {
  const names = existsSync(folder) ? readdirSync(folder).filter((each) => name.test(each)) : []
  return names.map((each) => join(folder, each))
}
