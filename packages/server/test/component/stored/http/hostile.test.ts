import { connect } from 'node:net'
import { type Management, managements, type Operation, operations, permissionsOf } from '@fairlead/api'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { campaign } from '../../../../../../proof/campaign.ts'
import { adminPassword, startControlPlane, type TestControlPlane } from '../../../control-plane.ts'
import { type HostileInput, hostileInputs } from '../../../hostile-inputs.ts'
import { isOnPostgres } from '../../../open-test-store.ts'

let fairlead: TestControlPlane
/** By management; `db_member@1` and `db_viewer@1` are limited to database 1. */
const tokens: Record<string, string> = {}
const all = Object.entries(operations) as readonly [string, Operation][]
const password = 'a-password-of-mine'
/** There is no agent here: operations that need one answer 503. */
const noAgent = /^\{"error_code":"unavailable","message":"the agent does not answer/

beforeAll(async () => {
  fairlead = await startControlPlane()
  const admin = await fairlead.signIn('admin', adminPassword, 86_400)
  tokens['admin'] = admin
  const send = (path: string, body: object) => fairlead.send('POST', path, { auth: admin, body })
  const add = async (name: string, role: object) => {
    await send('/v1/users', { name: name.replace('@', '-'), password, ...role })
    tokens[name] = await fairlead.signIn(name.replace('@', '-'), password, 86_400)
  }
  for (const management of managements.slice(1)) await add(management, { role: management })
  for (const [n, management] of (['db_member', 'db_viewer'] as const).entries()) {
    const resources = [{ type: 'db', uids: ['1'] }]
    await send('/v1/roles', { name: `limited ${n}`, management, resources })
    await add(`${management}@1`, { role_uids: [8 + n] })
  }
})
afterAll(() => fairlead[Symbol.asyncDispose]())

interface Heard {
  readonly status: number
  readonly head: string
  readonly body: string
}

/** Sends bytes and reads until the other side hangs up. */
function exchange({ bytes, breaksOff }: Pick<HostileInput, 'bytes' | 'breaksOff'>): Promise<Heard> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port: Number(new URL(fairlead.url).port), host: '127.0.0.1' })
    const chunks: Buffer[] = []
    socket.on('data', (chunk: Buffer) => {
      chunks.push(chunk)
      // A stream has no end: its head says that it was admitted.
      if (/^content-type: text\/event-stream/im.test(Buffer.concat(chunks.slice(0, 4)).toString('latin1')))
        socket.destroy()
    })
    socket.on('error', (cause: NodeJS.ErrnoException) => {
      if (cause.code !== 'ECONNRESET' && cause.code !== 'EPIPE') reject(cause)
    })
    socket.on('close', () => {
      const text = Buffer.concat(chunks).toString('latin1').replace('HTTP/1.1 100 Continue\r\n\r\n', '')
      const [head = '', ...rest] = text.split('\r\n\r\n')
      resolve({ status: Number(/^HTTP\/1\.1 (\d+)/.exec(head)?.[1]), head, body: rest.join('\r\n\r\n') })
    })
    if (breaksOff) socket.end(bytes)
    else socket.write(bytes)
  })
}

async function ask({ method, path, body, upload }: Operation, uid: string, auth: string): Promise<Heard> {
  const payload = body === undefined ? '' : '{}'
  const lines = [
    `${method} ${path.replace(/:\w+/g, uid)} HTTP/1.1`,
    ...['Host: localhost', 'Connection: close', `Content-Length: ${payload.length}`],
    ...(upload === undefined ? ['Content-Type: application/json'] : []),
    ...(auth === '' ? [] : [`Authorization: ${auth}`]),
  ]
  const bytes = Buffer.from(`${lines.join('\r\n')}\r\n\r\n${payload}`)
  return exchange({ bytes, breaksOff: false })
}

const lacks = ({ status, body }: Heard) => status === 403 && body.includes('lack the permission')
const isSound = ({ status, body }: Heard) =>
  status < 500 || (status === 503 && (body === '' || noAgent.test(body))) // HEAD has no body
const isAboutDatabase = ({ path }: Operation) => /\/bdbs?\/(alerts\/|stats\/(last\/)?)?:uid/.test(path)

/** Whether a token of a user with this management opens the operation. */
function opens(management: Management, { permission }: Operation): boolean {
  const held: readonly string[] = permissionsOf(management)
  return permission === null || permission === 'signed_in' || held.includes(permission)
}

describe('every operation, asked by', () => {
  const wrong = async (auth: string, mayPass: (operation: Operation) => boolean, uid = '77') => {
    const strays: string[] = []
    for (const [name, operation] of all) {
      if (name === 'logOut' && auth !== '') continue // which would end the sessions of this test
      const heard = await ask(operation, uid, auth)
      const isRefused = auth === '' || auth.endsWith('x') ? heard.status === 401 : lacks(heard)
      if (isRefused === mayPass(operation) || !isSound(heard))
        strays.push(`${name}: ${heard.status} ${heard.body}`)
    }
    return strays
  }

  test('no caller, and for an invalid token, answers 401 unless it is open to all', async () => {
    const isOpen = ({ permission }: Operation) => permission === null
    expect(await wrong('', isOpen)).toEqual([])
    expect(await wrong(`${tokens['admin']}x`, isOpen)).toEqual([])
  })

  for (const management of managements.toReversed()) {
    // invariant: No operation opens to a role that lacks its permission.
    test(`${management} opens what the contract says, and nothing else`, async () => {
      expect(await wrong(tokens[management] ?? '', (operation) => opens(management, operation))).toEqual([])
    })
  }

  for (const management of ['db_member', 'db_viewer'] as const) {
    test(`${management} of database 1 reaches that database, may look at what concerns no database, and reaches no other`, async () => {
      const token = tokens[`${management}@1`] ?? ''
      const mayPass = (own: boolean) => (operation: Operation) => {
        const { permission, forSome = false } = operation
        if (!opens(management, operation)) return false
        // Its handler knows whose object is named, and answers 404 for those of other databases.
        if (forSome) return true
        if (permission === null || permission === 'signed_in') return true
        return isAboutDatabase(operation) ? own : permission.startsWith('view_')
      }
      expect(await wrong(token, mayPass(true), '1')).toEqual([])
      expect(await wrong(token, mayPass(false), '2')).toEqual([])
    })
  }
})

test('the audit stays readable, whatever a refused request names as its database', async () => {
  const names = ['1e999', '-1e999', 'a', '1.5', '0x10', '%20', '%00', '9007199254740993', '-0', '2']
  const get = (path: string, who: string) => fairlead.send('GET', path, { auth: tokens[who] ?? '' })
  for (const name of names)
    expect((await get(`/v1/bdbs/${name}`, 'db_member@1')).status, name).toBe(/^[a%]/.test(name) ? 404 : 403)
  for (const order of ['asc', 'desc'])
    expect((await get(`/v1/logs?limit=10000&order=${order}`, 'admin')).status).toBe(200)
  expect((await get('/v1/logs?limit=10000', 'db_member@1')).status).toBe(200)
})

test('a name or a password with the character NUL, which PostgreSQL cannot store, signs in no user', async () => {
  for (const login of [
    ['admin\0', adminPassword],
    ['\0', 'x'],
    ['admin', `${adminPassword}\0`],
  ]) {
    const auth = `Basic ${Buffer.from(login.join(':')).toString('base64')}`
    expect([login, (await fairlead.send('GET', '/v1/bdbs', { auth })).status]).toEqual([login, 401])
  }
})

const { seed, times } = campaign()
/** There, only the values that the store accepts are different. */
const COUNT = times('hostile', isOnPostgres ? 500 : 5_000)
const AT_ONCE = 8

// invariant: No request, however odd, gets a 5xx or brings the server down.
test(`${COUNT} hostile requests are refused or answered, and leave nothing behind`, async () => {
  const some = ['admin', 'cluster_member', 'user_manager', 'none', 'db_member@1'].map(
    (who) => tokens[who] ?? '',
  )
  const inputs = hostileInputs(seed, COUNT, some)
  const faults: string[] = []
  const secrets = ['$argon2', adminPassword, 'node_modules', '.ts:', '    at ', 'SQLITE', 'select ']
  const judge = ({ kind, bytes }: HostileInput, heard: Heard) => {
    const { status, head, body } = heard
    // An empty line, for example, is no request. Node closes a CONNECT without an answer.
    const isSilent = head === '' && (kind === 'noise' || bytes.toString('latin1').startsWith('CONNECT '))
    const leaks = secrets.filter((secret) => body.includes(secret))
    const isShaped = status < 400 || body === '' || /^\{"error_code":"\w+","message":/.test(body)
    const isGuarded = /x-content-type-options: nosniff/i.test(head)
    if (isSilent || (isSound(heard) && isShaped && isGuarded && leaks.length === 0)) return
    faults.push(
      `${kind}: ${bytes.toString('latin1').slice(0, 300)} → ${head.split('\r\n')[0]} ${body.slice(0, 200)}`,
    )
  }
  const queue = inputs.values()
  const send = async () => {
    for (const input of queue) judge(input, await exchange(input))
  }
  await Promise.all(Array.from({ length: AT_ONCE }, send))
  expect(faults.slice(0, 5)).toEqual([])

  expect((await fairlead.send('GET', '/v1/users', { auth: tokens['admin'] ?? '' })).status).toBe(200)
  expect((await fairlead.send('GET', '/v1/logs?limit=10000', { auth: tokens['admin'] ?? '' })).status).toBe(
    200,
  )
  expect(fairlead.logged.filter((line) => line.includes('a request failed'))).toEqual([])
})
