import type {
  Address,
  ClientList,
  EndpointSpec,
  ErrorCode,
  HoldResult,
  MissingAddress,
  SwitchResult,
  TakenScripts,
} from '@fairlead/api/of-proxies'
import type { EndpointView, HoldTimes } from '../endpoint/endpoint.ts'
import type { Quiescence } from '../handover/long-requests.ts'
import type { Admission } from '../listen/admission.ts'
import type { ClientQuery } from '../listen/list-clients.ts'
import type { Places } from '../listen/places.ts'
import type { Found, PeerQuery } from '../remembered/peers.ts'
import type { TapePart } from '../traffic/recording.ts'

/** Orders of the main thread to a worker, and their answers. */
export interface Orders {
  readonly open: {
    readonly ask: { readonly wanted: EndpointSpec; readonly generation: number }
    readonly answer: null
  }
  readonly close: { readonly ask: null; readonly answer: null }
  readonly 'listen at': { readonly ask: Places; readonly answer: readonly MissingAddress[] }
  readonly 'end logins': { readonly ask: readonly string[]; readonly answer: null }
  readonly know: { readonly ask: readonly Address[]; readonly answer: null }
  readonly prepare: { readonly ask: Group; readonly answer: number }
  readonly blocked: {
    readonly ask: { readonly slot: number | undefined }
    readonly answer: readonly string[]
  }
  readonly calm: {
    readonly ask: { readonly withinMs: number; readonly slot: number | undefined }
    readonly answer: Quiescence
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
  readonly report: { readonly ask: null; readonly answer: EndpointView }
  readonly 'read tape': {
    readonly ask: { readonly slot: number | undefined }
    readonly answer: TapePart | null
  }
  readonly 'is held': { readonly ask: { readonly slot: number | undefined }; readonly answer: boolean }
  readonly clients: { readonly ask: ClientQuery; readonly answer: ClientList }
  /** Finds its clients for CLIENT LIST of a client of another worker, and ends some for CLIENT KILL. */
  readonly 'find peers': { readonly ask: PeerQuery; readonly answer: Found }
  readonly 'end peers': { readonly ask: EndedPeers; readonly answer: null }
}

/** Clients that CLIENT KILL ends. `why`: for the log. */
export interface EndedPeers {
  readonly ids: readonly number[]
  readonly why: string
}

/** An order that the main thread can give to workers. */
export type OrderName = keyof Orders

export interface Group {
  readonly upstream: Address
  readonly slot: number | undefined
}

export interface Switched {
  readonly result: SwitchResult
  /** Spec with the upstreams after the switch. */
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

/** Messages of the main thread to a worker. */
export type ToWorker =
  | Order
  /** The connections of all workers have moved: those of this switch may continue. */
  | { readonly kind: 'all there'; readonly number: number }
  /** The subscribers of all workers have moved: publishers may continue. */
  | { readonly kind: 'all listen'; readonly number: number }
  /** The worker's request is done, or failed with a reason. */
  | { readonly kind: 'moved'; readonly number: number; readonly why: string | null }
  /** The clients of other workers, as the worker has asked. */
  | { readonly kind: 'found'; readonly number: number; readonly found: Found }

/** Messages of a worker to the main thread. */
export type FromWorker =
  /** The worker takes orders. */
  | { readonly kind: 'ready' }
  | { readonly kind: 'answer'; readonly number: number; readonly answer: Orders[OrderName]['answer'] }
  | { readonly kind: 'refusal'; readonly number: number; readonly refusal: Refused }
  /** This worker's connections have moved, and wait for those of other workers. */
  | { readonly kind: 'there'; readonly number: number }
  /** This worker's subscribers have moved too; its publishers wait for other workers. */
  | { readonly kind: 'listen'; readonly number: number }
  /** Engines report that a group has moved: all workers should switch it. */
  | ({ readonly kind: 'move'; readonly number: number; readonly id: string } & Required<Group>)
  /** A client asks for the clients of other workers, or ends some of them. */
  | {
      readonly kind: 'find peers'
      readonly number: number
      readonly id: string
      readonly query: PeerQuery
    }
  | ({ readonly kind: 'end peers'; readonly id: string } & EndedPeers)
  /** A client has flushed the scripts: other workers should forget them. */
  | { readonly kind: 'scripts flushed'; readonly id: string }
  | {
      readonly kind: 'log'
      readonly what: string
      readonly details: Readonly<Record<string, string | number>>
    }

/** An error passed between threads; the code is null unless it is a Refusal. */
export interface Refused {
  readonly code: ErrorCode | null
  readonly message: string
}

/** Options of a worker. */
export interface WorkerStart {
  /** Table of the user of each engine. */
  readonly usersOfPorts: string
  readonly most: Admission['most']
  /** Limit of clients' scripts for each endpoint. */
  readonly mostScriptBytes: number
  /** Number of workers. */
  readonly count: number
  /** Memory for breadcrumbs, and the number of its record (heartbeat/breadcrumb.ts). */
  readonly breadcrumbs: SharedArrayBuffer
  readonly record: number
}
