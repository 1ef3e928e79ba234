import { createServer as createHttpServer } from 'node:http'
import type { Server, Socket } from 'node:net'
import { setImmediate as round } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { listenHttps } from '../../../../src/http/https/listen-https.ts'
import { makeApiCertificate, makeAuthority } from '../../../../src/tls/make-certificate.ts'
import { dial } from '../../../https-client.ts'

test('a connection that cannot be accepted ends neither the listener nor the server', async () => {
  const { cert: ca, ...authority } = await makeAuthority(Date.now())
  const pair = await makeApiCertificate({ cert: ca, ...authority }, ['127.0.0.1'], Date.now())
  const fronts: Server[] = []
  const connections = {
    all: () => [],
    isBusy: () => false,
    refuse: () => undefined,
    add(raw: Socket & { readonly server?: Server }) {
      if (raw.server !== undefined) fronts.push(raw.server)
      return () => undefined
    },
  }
  const http = { server: createHttpServer(), connections }
  await using listener = await listenHttps({ http, place: { host: '127.0.0.1', port: 0 }, pair })
  ;(await dial(listener.port, { ca })).destroy()
  // As Node reports a connection for which there is no file.
  fronts[0]?.emit('error', Object.assign(new Error('accept EMFILE'), { code: 'EMFILE' }))
  await round()
  ;(await dial(listener.port, { ca })).destroy()
  expect(fronts).toHaveLength(2)
})
