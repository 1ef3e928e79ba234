import type { TSchema } from 'typebox'
import { sessionCookies } from './browser-session.ts'
import { ErrorObstacle } from './error-obstacle.ts'
import { type ErrorCode, errors } from './errors.ts'
import type { NeutralField } from './neutral-fields.ts'
import { EVENT_ID, type Operation } from './operation.ts'

/** The OpenAPI 3.1 document of these operations. Pure: the same operations give the same bytes. */
export function toOpenApi(operations: Readonly<Record<string, Operation>>, version: string): object {
  const paths: Record<string, Record<string, object>> = {}
  for (const [operationId, operation] of Object.entries(operations)) {
    const path = operation.path.replace(/:(\w+)/g, '{$1}')
    paths[path] = { ...paths[path], [operation.method.toLowerCase()]: describe(operationId, operation) }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Fairlead: cluster management',
      version,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    paths,
    components: {
      securitySchemes: {
        token: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
        password: { type: 'http', scheme: 'basic' },
        session: { type: 'apiKey', in: 'cookie', name: sessionCookies.overTls },
      },
      schemas: { Error: errorSchema },
    },
  }
}

/** All possible refusals of an operation: its own, and those of its form. */
export function errorsOf(operation: Operation): readonly ErrorCode[] {
  return [
    ...new Set<ErrorCode>([
      ...(operation.params || operation.query || operation.body || operation.upload
        ? (['invalid_request'] as const)
        : []),
      ...accessErrors(operation),
      ...operation.errors,
      ...(operation.planned ? (['plan_outdated'] as const) : []),
      // The store may be unreachable, before or after a change is written.
      ...(operation.method === 'GET' ? [] : (['unavailable', 'outcome_unknown'] as const)),
      ...(operation.fenced ? (['stale_epoch'] as const) : []),
      'internal_error',
    ]),
  ]
}

/** Errors of operations that need a login, by token or by password (Basic). */
function accessErrors({ permission, method }: Operation): readonly ErrorCode[] {
  if (permission === null) return []
  const all = [
    ...(['unauthorized', 'invalid_credentials', 'password_expired', 'too_many_requests'] as const),
    ...(method === 'GET' ? [] : (['foreign_page'] as const)),
  ]
  return permission === 'signed_in' ? all : [...all, 'forbidden']
}

function describe(operationId: string, operation: Operation): object {
  const parameters = [
    ...parametersOf(operation.params, 'path'),
    ...parametersOf(operation.query, 'query'),
    ...(operation.stream === true ? [lastEventId] : []),
    ...(operation.planned === true ? [ifMatch] : []),
    ...(operation.tagged === true ? [ifNoneMatch] : []),
  ]
  return {
    operationId,
    summary: operation.summary,
    'x-since': operation.since,
    ...(operation.permission !== null && { 'x-permission': operation.permission }),
    security: operation.permission === null ? [] : [{ token: [] }, { password: [] }, { session: [] }],
    ...(parameters.length > 0 && { parameters }),
    ...(operation.body && {
      requestBody: { required: true, content: json(withNeutral(operation.body, operation.neutral)) },
    }),
    ...(operation.upload && { requestBody: { required: true, content: contentOf(operation.upload) } }),
    responses: { 200: success(operation), ...refusals(operation) },
  }
}

function contentOf(upload: NonNullable<Operation['upload']>): object {
  if (upload === 'octets') return { 'application/octet-stream': {} }
  const { field, mediaType } = upload
  const properties = { [field]: { contentMediaType: mediaType } }
  return { 'multipart/form-data': { schema: { type: 'object', required: [field], properties } } }
}

function success({ ok, stream, planned, paged, tagged }: Operation): object {
  if (planned === true) return { description: 'Success', headers: { ETag: basisTag }, content: json(ok) }
  if (paged === true || tagged === true) {
    const headers = { ...(tagged && { ETag: weakTag }), ...(paged && { 'X-Next-Cursor': nextCursor }) }
    return { description: 'Success', headers, content: json(ok) }
  }
  if (stream !== true) return { description: 'Success', content: json(ok) }
  return {
    description:
      'Server-sent events. The `data` of each is one JSON object of this schema; `id` is its `seq`, `event` its `type`. The last one is `event: end`; a stream that closes without it is to be resumed with Last-Event-ID. `event: cut` says why the server closes it early.',
    content: { 'text/event-stream': { schema: ok } },
  }
}

const nextCursor = {
  description: 'The cursor of the next page; absent where nothing follows, and without a limit',
  schema: { type: 'string' },
}
const weakTag = { description: 'Changes with the answer', schema: { type: 'string' } }
const basisTag = { description: 'Of a dry run: the `basis` of the plan', schema: { type: 'string' } }

const lastEventId = {
  name: 'Last-Event-ID',
  in: 'header',
  required: false,
  schema: { type: 'string', pattern: EVENT_ID, description: 'Only what came after this event' },
}

const ifNoneMatch = {
  name: 'If-None-Match',
  in: 'header',
  required: false,
  schema: {
    type: 'string',
    description: 'The ETag of an earlier answer: 304 while nothing of it has changed',
  },
}

const ifMatch = {
  name: 'If-Match',
  in: 'header',
  required: false,
  schema: {
    type: 'string',
    description:
      'The `basis` of a plan, in quotes: refused with `plan_outdated` when it has changed. Absent, or *: no condition',
  },
}

function parametersOf(schema: object | undefined, where: 'path' | 'query'): object[] {
  const { properties = {}, required = [] } = (schema ?? {}) as {
    properties?: Record<string, object>
    required?: string[]
  }
  return Object.entries(properties).map(([name, part]) => ({
    name,
    in: where,
    required: required.includes(name),
    schema: part,
  }))
}

function refusals(operation: Operation): Record<string, object> {
  const byStatus = Map.groupBy(errorsOf(operation), (code) => errors[code].status)
  return Object.fromEntries(
    [...byStatus].map(([status, codes]) => [
      status,
      {
        description: codes.map((code) => `\`${code}\`: ${errors[code].meaning}`).join('\n'),
        content: json({ $ref: '#/components/schemas/Error' }),
      },
    ]),
  )
}

const json = (schema: object) => ({ 'application/json': { schema } })

/** Adds neutral fields of the body; those within objects are in docs/reference/compatibility.md. */
function withNeutral(body: TSchema, neutral: readonly NeutralField[] = []): object {
  const { properties = {} } = body as { readonly properties?: Readonly<Record<string, object>> }
  const besides = neutral
    .filter(({ name }) => !name.includes('.') && !Object.hasOwn(properties, name))
    .map(({ name, taken, offered }) => [name, { enum: taken, description: `No other value: ${offered}` }])
  return besides.length === 0
    ? body
    : { ...body, properties: { ...properties, ...Object.fromEntries(besides) } }
}

/** Specification §2.8. */
const errorSchema = {
  type: 'object',
  required: ['error_code', 'message'],
  properties: {
    error_code: { type: 'string', enum: Object.keys(errors) },
    message: { type: 'string', description: 'What is wrong, where, and how to correct it' },
    obstacles: {
      type: 'array',
      description:
        'Of refusals with status 400, 406 or 409: everything that is in the way, each by itself; at least one. `message` has all of them in one sentence',
      items: ErrorObstacle,
    },
  },
}
