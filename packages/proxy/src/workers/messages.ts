import type {
  Address,
  ClientList,
  EndpointSpec,
  ErrorCode,
  HoldResult,
  SwitchResult,
  TakenScripts,
} from '@fairlead/api'
import type { EndpointView, HoldTimes } from '../endpoint/endpoint.ts'
import type { Calm } from '../handover/long-requests.ts'
import type { Admission } from '../listen/admission.ts'
import type { ClientQuery } from '../listen/list-clients.ts'

/** What the main thread orders of a worker, and what that answers. */
export interface Orders {
  readonly open: {
    readonly ask: { readonly wanted: EndpointSpec; readonly generation: number }
    readonly answer: null
  }
  readonly close: { readonly ask: null; readonly answer: null }
  readonly know: { readonly ask: readonly Address[]; readonly answer: null }
  readonly prepare: { readonly ask: Group; readonly answer: number }
  readonly blocked: {
    readonly ask: { readonly slot: number | undefined }
    readonly answer: readonly string[]
  }
  readonly calm: {
    readonly ask: { readonly withinMs: number; readonly slot: number | undefined }
    readonly answer: Calm
  }
  readonly hold: { readonly ask: HoldTimes; readonly answer: HoldResult }
  readonly switch: { readonly ask: Group & { readonly generation: number }; readonly answer: Switched }
  readonly 'take scripts': {
    readonly ask: { readonly engine: Address; readonly all: boolean }
    readonly answer: TakenScripts
  }
  readonly 'forget scripts': { readonly ask: null; readonly answer: null }
  readonly release: {
    readonly ask: { readonly slot: number | undefined; readonly hasFailed: boolean }
    readonly answer: null
  }
  readonly 'renew tls': { readonly ask: NonNullable<EndpointSpec['tls']>; readonly answer: null }
  readonly report: { readonly ask: null; readonly answer: EndpointView }
  readonly clients: { readonly ask: ClientQuery; readonly answer: ClientList }
}
/** An order that the main thread can give to workers. */
export type OrderName = keyof Orders

export interface Group {
  readonly upstream: Address
  readonly slot: number | undefined
}

export interface Switched {
  readonly result: SwitchResult
  /** With the upstreams after it. */
  readonly wanted: EndpointSpec
}

/** An order; its answer bears its number. */
export type Order = {
  [Name in OrderName]: {
    readonly kind: 'order'
    readonly number: number
    readonly id: string
    readonly name: Name
    readonly ask: Orders[Name]['ask']
  }
}[OrderName]

/** What the main thread posts to a worker. */
export type ToWorker =
  | Order
  /** The connections of all workers have arrived: those of the switch with this number may go on. */
  | { readonly kind: 'all there'; readonly number: number }
  /** The subscribers of all workers have arrived: those that publish may go on. */
  | { readonly kind: 'all listen'; readonly number: number }
  /** What the worker has asked for is done, or is not: why. */
  | { readonly kind: 'moved'; readonly number: number; readonly why: string | null }

/** What a worker posts to the main thread. */
export type FromWorker =
  /** It takes orders. */
  | { readonly kind: 'ready' }
  | { readonly kind: 'answer'; readonly number: number; readonly answer: Orders[OrderName]['answer'] }
  | { readonly kind: 'refusal'; readonly number: number; readonly refusal: Refused }
  /** The connections of this worker are at the new upstream, and wait for those of the others. */
  | { readonly kind: 'there'; readonly number: number }
  /** The subscribers of this worker are there too, and its publishers wait for those of the others. */
  | { readonly kind: 'listen'; readonly number: number }
  /** The engines of a group say that it is elsewhere: all workers are to switch it. */
  | ({ readonly kind: 'move'; readonly number: number; readonly id: string } & Required<Group>)
  /** A client has flushed the scripts: other workers are to forget them. */
  | { readonly kind: 'scripts flushed'; readonly id: string }
  | {
      readonly kind: 'log'
      readonly what: string
      readonly details: Readonly<Record<string, string | number>>
    }

/** An error on its way between threads; the code is null of what is no refusal. */
export interface Refused {
  readonly code: ErrorCode | null
  readonly message: string
}

/** What a worker is started with. */
export interface WorkerStart {
  /** The table of which user each engine is. */
  readonly usersOfPorts: string
  readonly most: Admission['most']
  /** Of clients' scripts, of each endpoint. */
  readonly mostScriptBytes: number
  /** Where it says what it does, and in which record (heartbeat/breadcrumb.ts). */
  readonly breadcrumbs: SharedArrayBuffer
  readonly record: number
}
