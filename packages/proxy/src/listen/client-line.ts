import type { Connection } from '../connection/connection.ts'
import type { Filter } from '../remembered/client-query.ts'
import { commandName } from '../remembered/command-names.ts'
import { type ConnectionState, freshState, isSubscribed, userOf } from '../remembered/connection-state.ts'
import { localAddress } from './address-text.ts'
import type { ConnectedClient } from './list-clients.ts'

/** The fields of a client in CLIENT LIST: those of valkey 9.1, in its order. */
export type ClientFields = ReturnType<typeof fieldsOf>

/** Returns the fields of a client, as the endpoint knows it. Sizes of an engine's buffers are 0. */
export function fieldsOf(client: ConnectedClient, now: { readonly ms: number; readonly unixMs: number }) {
  const { visitor, socket, requests, connections, state = freshState } = client
  const age = Math.max(0, now.unixMs - visitor.sinceMs)
  const lastMs = Math.max(...connections.map(({ timed }) => timed.lastMs), 0)
  const idle = lastMs === 0 ? age : Math.max(0, now.ms - lastMs)
  const kept = connections.reduce((sum, { input }) => sum + input.stashBytes, 0)
  const redirect = connections.find(({ link }) => (link?.redirect ?? 0) > 0)?.link?.redirect
  return {
    id: visitor.id,
    addr: visitor.address,
    laddr: localAddress(socket),
    fd: 0,
    name: settingOf(state, 'SETNAME', 1),
    age: Math.floor(age / 1_000),
    idle: Math.floor(idle / 1_000),
    flags: flagsOf(connections, state),
    capa: state.settings.has('CAPA') ? 'r' : '',
    db: state.database,
    sub: subscribed(connections, 'channels'),
    psub: subscribed(connections, 'patterns'),
    ssub: subscribed(connections, 'shardChannels'),
    multi: state.transaction?.count ?? -1,
    watch: connections.some(({ session }) => session.state.watches) ? 1 : 0,
    qbuf: kept,
    'qbuf-free': 0,
    'argv-mem': 0,
    'multi-mem': state.transaction?.bytes ?? 0,
    rbs: 0,
    rbp: 0,
    obl: 0,
    oll: 0,
    omem: socket.writableLength,
    'tot-mem': kept + socket.writableLength,
    events: 'r',
    cmd: commandName(requests.nameHash),
    user: userOf(state) ?? '(unknown)',
    redir: redirect ?? (state.tracking.length > 0 ? 0 : -1),
    resp: state.protocol,
    'lib-name': settingOf(state, 'SETINFO LIB-NAME', 2),
    'lib-ver': settingOf(state, 'SETINFO LIB-VER', 2),
    'tot-net-in': 0,
    'tot-net-out': 0,
    'tot-cmds': 0,
  }
}

function settingOf(state: ConnectionState, name: string, at: number): string {
  return state.settings.get(name)?.[at]?.toString('latin1') ?? ''
}

function subscribed(connections: readonly Connection[], kind: keyof ConnectionState['subscribed']): number {
  return connections.reduce((sum, { session }) => sum + session.state.subscribed[kind].size, 0)
}

function flagsOf(connections: readonly Connection[], state: ConnectionState): string {
  const flags = [
    connections.some(({ session }) => isSubscribed(session.state)) ? 'P' : '',
    state.transaction === null ? '' : 'x',
    connections.some(({ input }) => input.blocked) ? 'b' : '',
    state.tracking.length > 0 || connections.some(({ link }) => (link?.redirect ?? 0) > 0) ? 't' : '',
  ].join('')
  return flags === '' ? 'N' : flags
}

/** Returns the client's line in CLIENT LIST, with its line break. */
export function lineOf(fields: ClientFields): string {
  const words = Object.entries(fields).map(([name, value]) => `${name}=${value}`)
  return `${words.join(' ')}\n`
}

/** True if the client fits the filter. */
export function fits(fields: ClientFields, { name, not, values }: Filter): boolean {
  return values.some((value) => tests[name](fields, value)) !== not
}

type Test = (fields: ClientFields, value: string) => boolean

const hasAll = (present: string, wanted: string) => [...wanted].every((flag) => present.includes(flag))

const tests: Readonly<Record<Filter['name'], Test>> = {
  ID: ({ id }, value) => id === Number(value),
  TYPE: ({ flags }, value) => (flags.includes('P') ? 'pubsub' : 'normal') === value.toLowerCase(),
  USER: ({ user }, value) => user === value,
  ADDR: ({ addr }, value) => addr === value,
  LADDR: ({ laddr }, value) => laddr === value,
  IP: ({ addr }, value) => addr.slice(0, addr.lastIndexOf(':')).replaceAll(/[[\]]/g, '') === value,
  NAME: ({ name }, value) => name === value,
  DB: ({ db }, value) => Number(db) === Number(value),
  FLAGS: ({ flags }, value) => hasAll(flags, value),
  CAPA: ({ capa }, value) => hasAll(capa, value),
  'LIB-NAME': (fields, value) => fields['lib-name'] === value,
  'LIB-VER': (fields, value) => fields['lib-ver'] === value,
  MAXAGE: ({ age }, value) => age >= Number(value),
  IDLE: ({ idle }, value) => idle >= Number(value),
}
