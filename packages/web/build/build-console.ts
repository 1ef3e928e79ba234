/**
 * `node --conditions=@fairlead/source packages/web/build/build-console.ts`: builds the console into
 * packages/web/dist/console. Names hold a hash of their content, and beside each file lie its .br and .gz.
 * Whatever fails is an exit code other than 0, and leaves the former build.
 */
import { readFileSync } from 'node:fs'
import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { consoleFolder } from '@fairlead/web'
import { build, type Metafile } from 'esbuild'
import { onlyWhatClientsNeed } from './only-what-clients-need.ts'

const web = join(import.meta.dirname, '..')
const made = `${consoleFolder}.${process.pid}`

try {
  await mkdir(join(made, 'assets'), { recursive: true })
  const { metafile } = await build({
    entryPoints: [
      join(web, 'src/main.tsx'),
      join(web, 'src/styles/app.css'),
      join(web, 'src/styles/icon.svg'),
    ],
    outdir: join(made, 'assets'),
    absWorkingDir: web,
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    loader: { '.svg': 'copy' },
    bundle: true,
    splitting: true,
    format: 'esm',
    target: ['chrome120', 'firefox121', 'safari17'],
    jsx: 'automatic',
    minify: true,
    conditions: ['@fairlead/source'],
    define: { 'process.env.NODE_ENV': '"production"' },
    legalComments: 'none',
    metafile: true,
    logLevel: 'warning',
    plugins: [onlyWhatClientsNeed()],
  })
  await writeFile(join(made, 'index.html'), pageOf(metafile))
  await compressAll(join(made, 'assets'))
  await rm(consoleFolder, { recursive: true, force: true })
  await rename(made, consoleFolder)
} finally {
  await rm(made, { recursive: true, force: true })
}

function pageOf({ outputs }: Metafile): string {
  const nameOf = (source: string) => {
    const [path] = Object.entries(outputs).find(([, { entryPoint }]) => entryPoint === source) ?? []
    if (path === undefined) throw new Error(`the build has not made anything of ${source}`)
    return `/assets/${path.split('/').at(-1)}`
  }
  const names = {
    script: nameOf('src/main.tsx'),
    style: nameOf('src/styles/app.css'),
    icon: nameOf('src/styles/icon.svg'),
  }
  const page = readFileSync(join(web, 'src/index.html'), 'utf8')
  return page.replace(/\{(script|style|icon)\}/g, (_, name: keyof typeof names) => names[name])
}

async function compressAll(folder: string): Promise<void> {
  const best = { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } }
  for (const name of await readdir(folder)) {
    const bytes = readFileSync(join(folder, name))
    await writeFile(join(folder, `${name}.br`), brotliCompressSync(bytes, best))
    await writeFile(join(folder, `${name}.gz`), gzipSync(bytes, { level: 9 }))
  }
}
