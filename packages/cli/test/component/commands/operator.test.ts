import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'

/** Two escape sequences: one sets a terminal's title; the other, an 8-bit character, makes it answer. */
const ORDERS = '\u001b]0;taken\u0007 \u009b6n'

test('control characters in an answer or a refusal of a server do not reach the terminal of the operator', async () => {
  const home = await mkdtemp(join(tmpdir(), 'operator-'))
  await mkdir(join(home, 'run'))
  const server = createServer((request, response) => {
    const refused = request.method !== 'GET'
    const body = refused
      ? { error_code: 'not_found', message: `no ${ORDERS}` }
      : { ca_cert: `-- ${ORDERS} --\n`, proxy_cert: 'p', proxy_cert_expires: 'e', keys: [] }
    response.writeHead(refused ? 404 : 200, { 'content-type': 'application/json' })
    response.end(JSON.stringify(body))
  })
  server.listen(join(home, 'run', 'server.sock'))
  await once(server, 'listening')
  try {
    const shown = await fairlead(home, 'certificates', 'show')
    expect(shown).toEqual({ stdout: '-- ?]0;taken? ?6n --\n', stderr: '' })
    const refused = await fairlead(home, 'users', 'reset-password', 'ada')
    expect(refused).toEqual({ stdout: '', stderr: 'fairlead: no ?]0;taken? ?6n  [not_found]\n' })
  } finally {
    server.close()
    await rm(home, { recursive: true })
  }
})

test('a server that runs and lets no operator in yet says why', async () => {
  const home = await mkdtemp(join(tmpdir(), 'operator-'))
  await mkdir(join(home, 'run'))
  const server = createServer((_, response) => {
    response.writeHead(503, { 'content-type': 'application/json' })
    response.end(
      JSON.stringify({ error_code: 'unavailable', message: 'the cluster has not been created yet' }),
    )
  })
  server.listen(join(home, 'run', 'server.sock'))
  await once(server, 'listening')
  try {
    expect(await fairlead(home, 'databases', 'list')).toEqual({
      stdout: '',
      stderr: `fairlead: the server on ${home}: the cluster has not been created yet  [unavailable]\n`,
    })
  } finally {
    server.close()
    await rm(home, { recursive: true })
  }
})

async function fairlead(home: string, ...args: readonly string[]) {
  const main = join(import.meta.dirname, '../../../src/main.ts')
  const child = spawn(process.execPath, ['--conditions=@fairlead/source', main, ...args], {
    env: { ...process.env, FAIRLEAD_HOME: home },
  })
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)])
  return { stdout, stderr }
}
