import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

/** A collector of traces on loopback, which takes whatever it is sent. */
export interface Collector extends AsyncDisposable {
  readonly url: string
  /** Each request, in order. */
  readonly taken: readonly { readonly head: readonly unknown[]; readonly body: string }[]
}

/** `named`: headers that are kept of each request, besides its method, path and content type. */
export async function startCollector(...named: readonly string[]): Promise<Collector> {
  const taken: Collector['taken'][number][] = []
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      const { method, url, headers } = request
      taken.push({
        head: [method, url, headers['content-type'], ...named.map((name) => headers[name])],
        body,
      })
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    taken,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
