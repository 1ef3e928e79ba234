import { type Static, type TSchema, Type } from 'typebox'
import { closed } from './closed.ts'
import type { ErrorCode } from './errors.ts'
import type { NeutralField } from './neutral-fields.ts'
import type { Permission } from './permissions.ts'

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'

/** An HTTP operation: the only definition of its path, schemas, permission and errors. */
export interface Operation {
  readonly method: Method
  /** Path with `:name` for parameters. */
  readonly path: `/${string}`
  readonly summary: string
  /** The first version of Fairlead with it; default: 0.1.0. */
  readonly since: string
  /**
   * The permission that the caller's roles must have. `signed_in`: any signed-in user. `null` must be
   * explicit: open to every client that reaches the port.
   */
  readonly permission: Permission | 'signed_in' | null
  /** The permission for some databases is enough here: the handler refuses objects of others. */
  readonly forSome?: true
  /** The caller's own object, named by `uid` in the path, needs no permission. */
  readonly ownWithout?: true
  /** The password may be expired and sent as Basic: this is how it is changed. */
  readonly admitsExpired?: true
  /** `username` and `password` of the body may come as `Authorization: Basic` instead. */
  readonly loginAsBasic?: true
  /** Begins or ends a browser session with a cookie. Refused to pages of other servers. */
  readonly setsCookie?: true
  /** Time that the client may cache the answer. Default: not at all. */
  readonly cacheSeconds?: number
  /** The answer may hold a secret next to others' input: never compressed (BREACH). */
  readonly secret?: true
  /** The query has `cursor`; the header `X-Next-Cursor` of an answer leads to the next page, if any. */
  readonly paged?: true
  /** The answer has a weak `ETag`; with `If-None-Match`, an unchanged answer is 304 without a body. */
  readonly tagged?: true
  /**
   * `fields` of the query selects top-level fields of the answer, or of a list's entries; a name is the
   * list's field. See fieldsQuery.
   */
  readonly selects?: true | string
  readonly params?: TSchema
  readonly query?: TSchema
  readonly body?: TSchema
  /** Additional fields of the wider API, if they ask for the default. */
  readonly neutral?: readonly NeutralField[]
  /** The body is one file, streamed, instead of `body`. */
  readonly upload?: FormFile | 'octets'
  /** For a stream, the schema of one event: `seq`, a rising number, and `type`. */
  readonly ok: TSchema
  /** The answer is a stream of server-sent events until `event: end`. The query has StreamQuery's fields. */
  readonly stream?: true
  /** A list that may be long: sent entry by entry, as fast as the client reads. */
  readonly byEntry?: true
  /** Answers when its work has ended; with `Prefer: respond-async`, immediately. */
  readonly waits?: true
  /**
   * The plan has a digest, `basis`, which is also the answer's `ETag`. A request with `If-Match` is refused
   * with `plan_outdated` if the basis has changed.
   */
  readonly planned?: true
  /** A changing order to an agent or proxy: refused if its epoch is no longer the highest. */
  readonly fenced?: true
  /** Specific refusals; default: none. The documents add general ones (malformed, unauthorized, …). */
  readonly errors: readonly ErrorCode[]
}

/** A file in a form (multipart/form-data), as sent by browsers and curl. `octets`: the body is the file. */
export interface FormFile {
  readonly field: string
  readonly mediaType: string
  /** The refusal if it is missing. */
  readonly missing: ErrorCode
}

/** A file in pieces, each read on demand. Throws if the sender breaks off. */
export type Pieces = AsyncIterable<Uint8Array>

type Defaults = Pick<Operation, 'since' | 'errors'>
type Specified = Omit<Operation, keyof Defaults> & Partial<Defaults>

/** Keeps the literal types of `spec`, adds the defaults, and freezes it. */
export function operation<const Spec extends Specified>(spec: Spec): Spec & Defaults {
  return Object.freeze({ since: '0.1.0', errors: [], ...spec })
}

/** An operation of a Unix socket, whose folder only its owner can enter: it needs no permission. */
export function socketOperation<const Spec extends Omit<Specified, 'permission'>>(
  spec: Spec,
): Spec & Defaults & { readonly permission: null } {
  return Object.freeze({ since: '0.1.0', errors: [], permission: null, ...spec })
}

/** The id of an event: its `seq`, in `GET /v1/events` with a mark of its history. `seq` alone is valid. */
export const EVENT_ID = '^(\\d{1,15})(?:-([0-9a-z]{1,8}))?$'

/** The position to resume a stream. The header `Last-Event-ID` takes precedence. */
export const StreamQuery = closed({
  last_event_id: Type.Optional(
    Type.String({
      pattern: EVENT_ID,
      description:
        'Only what came after the event with this id, or `seq`; for clients that cannot set Last-Event-ID. Not read where that header is sent',
    }),
  ),
})

type Part<Op extends Operation, Key extends 'params' | 'query' | 'body'> = Op[Key] extends TSchema
  ? { readonly [K in Key]: Static<Op[Key]> }
  : unknown

/** The input of an operation's handler, validated. */
export type Input<Op extends Operation> = Part<Op, 'params'> &
  Part<Op, 'query'> &
  Part<Op, 'body'> &
  File<Op> &
  Waits<Op> &
  Expects<Op>
/** `basis`: the accepted ones; undefined: any. */
type Expects<Op extends Operation> = Op['planned'] extends true
  ? { readonly basis: readonly string[] | undefined }
  : unknown
type Waits<Op extends Operation> = Op['waits'] extends true
  ? { readonly waitPreference: WaitPreference }
  : unknown

/** The client's wish to wait for the end. */
export interface WaitPreference {
  /** `Prefer: respond-async`: do not wait. */
  readonly isAsync: boolean
  /** Aborted when the client has disconnected, or the server stops. */
  readonly signal: AbortSignal
}
type File<Op extends Operation> = Op['upload'] extends FormFile | 'octets'
  ? { readonly file: Pieces }
  : unknown
/** The input that a client sends. A query with only optional fields may be omitted. */
export type Sent<Op extends Operation> = Part<Op, 'params'> &
  SentQuery<Op> &
  Part<Op, 'body'> &
  File<Op> &
  SentBasis<Op>
/** The basis of a plan; the request is refused if it is outdated. */
type SentBasis<Op extends Operation> = Op['planned'] extends true ? { readonly basis?: string } : unknown
type SentQuery<Op extends Operation> = Op['query'] extends TSchema
  ? Record<never, never> extends Static<Op['query']>
    ? { readonly query?: Static<Op['query']> }
    : Part<Op, 'query'>
  : unknown
/** Body of a 2xx answer; for a stream, one event. */
export type Output<Op extends Operation> = Static<Op['ok']>
/** Body of a request; never if there is none. */
export type Body<Op extends Operation> = Op['body'] extends TSchema ? Static<Op['body']> : never
