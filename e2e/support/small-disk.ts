import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { codeOf } from '@fairlead/engine'

export interface SmallDisk extends Disposable {
  readonly folder: string
  /** Fills the disk but for `leaveBytes` (0), until it is disposed of. */
  fill(leaveBytes?: number): Disposable
}

/** A separate file system in memory; only root can make one. */
export function smallDisk(megabytes: number): SmallDisk {
  const folder = mkdtempSync(join(tmpdir(), 'fairlead-disk-'))
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'none', folder])
  return {
    folder,
    fill(leaveBytes = 0) {
      const ballast = join(folder, 'ballast')
      for (const size of [1024 * 1024, 4096]) {
        try {
          for (;;) writeFileSync(ballast, Buffer.alloc(size), { flag: 'a' })
        } catch (error) {
          if (codeOf(error) !== 'ENOSPC') throw error
        }
      }
      truncateSync(ballast, statSync(ballast).size - leaveBytes)
      return { [Symbol.dispose]: () => rmSync(ballast, { force: true }) }
    },
    [Symbol.dispose]() {
      unmount(folder)
      rmSync(folder, { recursive: true })
    },
  }
}

/** Threads of a process that has just ended may hold files for a moment longer. */
function unmount(folder: string): void {
  for (const until = performance.now() + 5_000; ; ) {
    try {
      execFileSync('umount', [folder], { stdio: 'ignore' })
      return
    } catch (cause) {
      if (performance.now() > until) throw cause
    }
  }
}
