import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { type ConnectionOptions, connect } from 'node:tls'
import type { EndpointSpec } from '@fairlead/api'
import { rawClient } from './stage.ts'

/** A certificate of its own authority, for localhost. */
export function certificateOf(folder: string, name: string): NonNullable<EndpointSpec['tls']> {
  const [key, cert] = ['key', 'cert'].map((what) => join(folder, `${name}-${what}.pem`))
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2']
  const names = ['-subj', `/CN=${name}`, '-addext', 'subjectAltName=DNS:localhost']
  const files = ['-keyout', key ?? '', '-out', cert ?? '']
  execFileSync('openssl', ['req', '-x509', ...curve, ...names, ...files], { stdio: 'ignore' })
  return { key: readFileSync(key ?? '', 'utf8'), cert: readFileSync(cert ?? '', 'utf8') }
}

/** Connects as a client that trusts only this certificate, and checks the name. */
export async function dialTls(port: number, ca: string, more: ConnectionOptions = {}) {
  const socket = connect({ host: '127.0.0.1', servername: 'localhost', port, ca, ...more })
  await once(socket, 'secureConnect')
  return { ...rawClient(socket), shown: () => socket.getPeerCertificate().subject.CN }
}

/** What a client says first, from a client that speaks to a server of ours. */
export async function readHello(): Promise<Buffer> {
  await using server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const client = connect({ port, host: '127.0.0.1', servername: 'localhost' }).on('error', () => undefined)
  const [socket] = (await once(server, 'connection')) as [Socket]
  const [hello] = (await once(socket, 'data')) as [Buffer]
  client.destroy()
  socket.destroy()
  return hello
}
