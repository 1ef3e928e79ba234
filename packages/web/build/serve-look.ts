import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { build } from 'esbuild'
import { onlyWhatClientsNeed } from './only-what-clients-need.ts'

const web = join(import.meta.dirname, '..')

/** Serves the pages of components at `/__look`. They are never in what the server serves. */
export interface LookServer extends AsyncDisposable {
  readonly url: string
  /** What the page loads, by its path. */
  readonly files: ReadonlyMap<string, string>
}

/** Builds them in memory, and serves them on a free port of the loopback address. */
export async function serveLook(): Promise<LookServer> {
  const files = await buildLook()
  const server = createServer(({ url = '' }, response) => {
    const found = files.get(url)
    const kind = url.endsWith('.js') ? 'text/javascript' : url.endsWith('.css') ? 'text/css' : 'text/html'
    response
      .writeHead(found === undefined ? 404 : 200, { 'content-type': `${kind}; charset=utf-8` })
      .end(found)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    files,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/__look`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

async function buildLook(): Promise<ReadonlyMap<string, string>> {
  const { outputFiles } = await build({
    entryPoints: { look: join(web, 'src/look/main.tsx'), style: join(web, 'src/styles/app.css') },
    ...{ outdir: '/__look', bundle: true, write: false, format: 'esm', jsx: 'automatic' },
    conditions: ['@fairlead/source'],
    define: { 'process.env.NODE_ENV': '"production"' },
    logLevel: 'warning',
    plugins: [onlyWhatClientsNeed()],
  })
  const page = `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Components of the console</title><link rel="icon" href="data:,"><link rel="stylesheet" href="/__look/style.css">
    <script type="module" src="/__look/look.js"></script></head><body><div id="root"></div></body></html>`
  return new Map([['/__look', page], ...outputFiles.map(({ path, text }) => [path, text] as const)])
}
