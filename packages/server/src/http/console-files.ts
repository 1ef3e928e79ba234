import { readdirSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { codeOf } from '@fairlead/engine'

/** A file of the console. */
export interface ConsoleFile {
  readonly type: string
  readonly bytes: Buffer
  /** Compressed when the console was built. */
  readonly compressed: Readonly<Record<'br' | 'gzip', Buffer>>
}

/** The built console in memory; it is small. */
export interface ConsoleFiles {
  /** The single page of all paths. */
  readonly page: string
  /** Keyed by name, which contains a hash of the content. */
  readonly assets: ReadonlyMap<string, ConsoleFile>
}

const types: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
}

/** Reads the console in `folder`; null: not built. */
export function readConsole(folder: string): ConsoleFiles | null {
  try {
    const page = readFileSync(join(folder, 'index.html'), 'utf8')
    const assets = join(folder, 'assets')
    const names = readdirSync(assets).filter((name) => extname(name) in types)
    return { page, assets: new Map(names.map((name) => [name, readAsset(join(assets, name))])) }
  } catch (cause) {
    if (codeOf(cause) === 'ENOENT') return null
    throw cause
  }
}

function readAsset(path: string): ConsoleFile {
  return {
    type: types[extname(path)] ?? 'application/octet-stream',
    bytes: readFileSync(path),
    compressed: { br: readFileSync(`${path}.br`), gzip: readFileSync(`${path}.gz`) },
  }
}
