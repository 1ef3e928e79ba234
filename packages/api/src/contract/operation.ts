import { type Static, type TSchema, Type } from 'typebox'
import type { ErrorCode } from './errors.ts'
import type { NeutralField } from './neutral-fields.ts'
import type { Permission } from './permissions.ts'

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'

/** One HTTP operation: the only place where its path, shapes, permission and errors are written. */
export interface Operation {
  readonly method: Method
  /** Path with `:name` for parameters. */
  readonly path: `/${string}`
  readonly summary: string
  /** The version of Fairlead that brought it. */
  readonly since: string
  /**
   * What the caller's roles must hold. `signed_in`: any user who is signed in. `null` must be written out:
   * the operation is open to every client that reaches the port.
   */
  readonly permission: Permission | 'signed_in' | null
  /** The permission is not needed for the caller's own object, which `uid` in the path names. */
  readonly ownWithout?: true
  /** The password may be an expired one, sent as Basic: this is how it is changed. */
  readonly admitsExpired?: true
  /** `username` and `password`, which its body has, may come as `Authorization: Basic` instead. */
  readonly loginAsBasic?: true
  /** It begins or ends the session of a browser: its answer sets a cookie. It is refused to pages of other servers. */
  readonly setsCookie?: true
  /** How long the client may keep the answer. Without it: not at all. */
  readonly cacheSeconds?: number
  /** Its answer may hold a secret besides what others have written: it is never compressed (BREACH). */
  readonly secret?: true
  /** Its query has `cursor`; where more follows, the header `X-Next-Cursor` of its answer says where the next page begins. */
  readonly paged?: true
  /** Its answer has a weak `ETag`; with `If-None-Match` an answer that is still the same is 304, without a body. */
  readonly tagged?: true
  /** `fields` of its query says which top-level fields the answer has, or each entry of a list; a name is that of the field with the list. See fieldsQuery. */
  readonly selects?: true | string
  readonly params?: TSchema
  readonly query?: TSchema
  readonly body?: TSchema
  /** Fields of the wider API that its body may have besides, as long as they ask for what is done anyway. */
  readonly neutral?: readonly NeutralField[]
  /** The body is one file, taken as it comes. It has no `body` besides. */
  readonly upload?: FormFile | 'octets'
  /** Of a stream: the shape of one event, which has `seq`, a number that rises, and `type`, its kind. */
  readonly ok: TSchema
  /** The answer goes on: server-sent events, until `event: end`. Its query has the fields of StreamQuery. */
  readonly stream?: true
  /** Its answer is a list that may be long: it is sent entry by entry, as the client reads. */
  readonly byEntry?: true
  /** It answers when what it began has ended; with the header `Prefer: respond-async`, at once. */
  readonly waits?: true
  /**
   * Its plan has a digest, `basis`, which is also the `ETag` of the answer. A request with `If-Match` is refused with `plan_outdated` when the plan
   * would have another one by now.
   */
  readonly planned?: true
  /** An order to an agent or a proxy that changes something: with an epoch, it is refused when that is not the highest any more. */
  readonly fenced?: true
  /** The refusals of its own. Those of every operation (malformed, unauthorized, …) are added by the documents. */
  readonly errors: readonly ErrorCode[]
}

/** A file in a form (multipart/form-data), as browsers and curl send it. `octets` is a file that is the whole body. */
export interface FormFile {
  readonly field: string
  readonly mediaType: string
  /** The refusal when it is not there. */
  readonly missing: ErrorCode
}

/** A file piece by piece, each taken when the one before has been dealt with. It throws where the sender breaks off. */
export type Pieces = AsyncIterable<Uint8Array>

/** Keeps the literal types of `spec`, and freezes it. */
export function operation<const Spec extends Operation>(spec: Spec): Spec {
  return Object.freeze(spec)
}

/** The id of an event: its `seq`, and in `GET /v1/events` a mark of the history that it belongs to. A `seq` alone is taken, too. */
export const EVENT_ID = '^(\\d{1,15})(?:-([0-9a-z]{1,8}))?$'

/** Where a stream goes on. The header `Last-Event-ID` says the same, and counts more. */
export const StreamQuery = Type.Object(
  {
    last_event_id: Type.Optional(
      Type.String({
        pattern: EVENT_ID,
        description:
          'Only what came after the event with this id, or `seq`; for clients that cannot set Last-Event-ID. Not read where that header is sent',
      }),
    ),
  },
  { additionalProperties: false },
)

type Part<Op extends Operation, Key extends 'params' | 'query' | 'body'> = Op[Key] extends TSchema
  ? { readonly [K in Key]: Static<Op[Key]> }
  : unknown

/** What the handler of an operation is given, checked against its schemas. */
export type Input<Op extends Operation> = Part<Op, 'params'> &
  Part<Op, 'query'> &
  Part<Op, 'body'> &
  File<Op> &
  Waits<Op> &
  Expects<Op>
/** `basis`: those that the client expects; undefined: it expects nothing. */
type Expects<Op extends Operation> = Op['planned'] extends true
  ? { readonly basis: readonly string[] | undefined }
  : unknown
type Waits<Op extends Operation> = Op['waits'] extends true
  ? { readonly waitPreference: WaitPreference }
  : unknown

/** How long the client waits for the end. */
export interface WaitPreference {
  /** `Prefer: respond-async`: not at all. */
  readonly isAsync: boolean
  /** Aborted when the client has closed its connection, or the server stops. */
  readonly signal: AbortSignal
}
type File<Op extends Operation> = Op['upload'] extends FormFile | 'octets'
  ? { readonly file: Pieces }
  : unknown
/** What a client sends. A query of optional fields only may be left out as a whole. */
export type Sent<Op extends Operation> = Part<Op, 'params'> &
  SentQuery<Op> &
  Part<Op, 'body'> &
  File<Op> &
  SentBasis<Op>
/** The basis of a plan, to be refused when it is outdated. */
type SentBasis<Op extends Operation> = Op['planned'] extends true ? { readonly basis?: string } : unknown
type SentQuery<Op extends Operation> = Op['query'] extends TSchema
  ? Record<never, never> extends Static<Op['query']>
    ? { readonly query?: Static<Op['query']> }
    : Part<Op, 'query'>
  : unknown
/** The body of an operation's answer with status 2xx; of a stream, one event. */
export type Output<Op extends Operation> = Static<Op['ok']>
/** The body of an operation's request; never if the operation has none. */
export type Body<Op extends Operation> = Op['body'] extends TSchema ? Static<Op['body']> : never
