import type {
  Address,
  ClientList,
  EndpointSpec,
  ErrorCode,
  HoldResult,
  SwitchResult,
  TakenScripts,
} from '@fairlead/api/of-proxies'
import type { EndpointView, HoldTimes } from '../endpoint/endpoint.ts'
import type { Calm } from '../handover/long-requests.ts'
import type { Admission } from '../listen/admission.ts'
import type { ClientQuery } from '../listen/list-clients.ts'
import type { TapePart } from '../traffic/recording.ts'

/** The orders of the main thread to a worker, and their answers. */
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
  readonly 'read tape': {
    readonly ask: { readonly slot: number | undefined }
    readonly answer: TapePart | null
  }
  readonly 'is held': { readonly ask: { readonly slot: number | undefined }; readonly answer: boolean }
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
  /** Answers the spec with the upstreams after the switch. */
  readonly wanted: EndpointSpec
}

/** An order; its answer has its number. */
export type Order = {
  [Name in OrderName]: {
    readonly kind: 'order'
    readonly number: number
    readonly id: string
    readonly name: Name
    readonly ask: Orders[Name]['ask']
  }
}[OrderName]

/** The messages of the main thread to a worker. */
export type ToWorker =
  | Order
  /** The connections of all workers have arrived: those of the switch with this number may go on. */
  | { readonly kind: 'all there'; readonly number: number }
  /** The subscribers of all workers have arrived: those that publish may go on. */
  | { readonly kind: 'all listen'; readonly number: number }
  /** The worker's request is done, or the reason why it is not. */
  | { readonly kind: 'moved'; readonly number: number; readonly why: string | null }

/** The messages of a worker to the main thread. */
export type FromWorker =
  /** The worker takes orders. */
  | { readonly kind: 'ready' }
  | { readonly kind: 'answer'; readonly number: number; readonly answer: Orders[OrderName]['answer'] }
  | { readonly kind: 'refusal'; readonly number: number; readonly refusal: Refused }
  /** The connections of this worker have moved, and wait for those of the other workers. */
  | { readonly kind: 'there'; readonly number: number }
  /** The subscribers of this worker have moved too, and its publishers wait for those of the other workers. */
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

/** An error on its way between threads; the code is null unless it is a refusal. */
export interface Refused {
  readonly code: ErrorCode | null
  readonly message: string
}

/** The options of a worker. */
export interface WorkerStart {
  /** The table of the user of each engine. */
  readonly usersOfPorts: string
  readonly most: Admission['most']
  /** The most bytes of clients' scripts, for each endpoint. */
  readonly mostScriptBytes: number
  /** The memory for its breadcrumbs, and the number of its record (heartbeat/breadcrumb.ts). */
  readonly breadcrumbs: SharedArrayBuffer
  readonly record: number
}
