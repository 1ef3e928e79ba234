import { existsSync } from 'node:fs'
import { readApiError, type Transport } from '@fairlead/api/lean'
import { findOperatorSocket, homeOf } from '@fairlead/server/sockets'
import { CommandFault } from '../output/command-fault.ts'
import type { HoldToken } from './hold-token.ts'
import { httpTransport } from './http-transport.ts'

/** The server of this machine, for its operator. */
export interface LocalServer {
  readonly url: string
  readonly home: string
  readonly holdToken: HoldToken
}

/** Returns whether this user reaches the socket of a server on this machine, without asking it. */
export function hasLocalServer(env: NodeJS.ProcessEnv): boolean {
  try {
    return existsSync(findOperatorSocket(homeOf(env['FAIRLEAD_HOME'] || undefined)))
  } catch {
    return false // a file of others in its place
  }
}

/** Returns whether a server was ever started here, or its folder was made. */
export function hasHome(env: NodeJS.ProcessEnv): boolean {
  return existsSync(homeOf(env['FAIRLEAD_HOME'] || undefined))
}

/** Signs in through the socket in FAIRLEAD_HOME, without a password. Throws CommandFault without a server. */
export async function findLocalServer(env: NodeJS.ProcessEnv, withinMs: number): Promise<LocalServer> {
  const home = homeOf(env['FAIRLEAD_HOME'] || undefined)
  const socket = httpTransport({ socketPath: findOperatorSocket(home) }, withinMs)
  let now = await authorize(socket, home)
  return {
    home,
    url: now.url,
    holdToken: async () => {
      if (Date.now() >= now.renewMs) now = await authorize(socket, home)
      return now.token
    },
  }
}

async function authorize(socket: Transport, home: string) {
  const request = { method: 'POST', path: '/v1/operator/authorize', headers: { accept: 'application/json' } }
  const { status, text } = await socket(request).catch((cause: unknown) => {
    throw unreached(home, cause)
  })
  if (status !== 200) throw declined(home, status, text)
  const {
    access_token: token,
    ttl,
    url,
  } = JSON.parse(text) as {
    readonly access_token: string
    readonly ttl: number
    readonly url: string
  }
  return { token, url: reachable(url), renewMs: Date.now() + (ttl * 1_000) / 2 }
}

/** For a server that listens at all addresses, use a local one. */
function reachable(url: string): string {
  return new URL(url.replace('//0.0.0.0', '//127.0.0.1').replace('//[::]', '//[::1]')).origin
}

/** The server runs and refuses the operator: it is starting, or its cluster is not created yet. */
function declined(home: string, status: number, text: string): CommandFault {
  const { message, code } = readApiError('its socket', status, text)
  return new CommandFault('unreached', `the server on ${home}: ${message}`, { code })
}

function unreached(home: string, cause: unknown): CommandFault {
  const { code = '' } = cause as { readonly code?: string }
  const login = 'sign in to a server: fairlead login --server https://…'
  if (code === 'EACCES')
    return new CommandFault('forbidden', `this user may not open the socket of the server in ${home}`, {
      code: 'forbidden',
      cause,
      next: `run it as the owner of FAIRLEAD_HOME; or ${login}`,
    })
  return new CommandFault('unreached', `no server answers on ${home}`, {
    code: 'unreached',
    cause,
    next: `${login}; or start one on its machine: fairlead up`,
  })
}
