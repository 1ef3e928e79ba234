import { type Static, type TObject, Type } from 'typebox'
import { closed } from '../contract/closed.ts'
import { operation, StreamQuery } from '../contract/operation.ts'
import { ActionEvent } from './actions.ts'
import { Node } from './cluster.ts'
import { Database, DatabaseUid } from './databases.ts'
import { LogEntry } from './logs.ts'

/** Topics of the cluster's stream. */
export const eventTopics = ['actions', 'databases', 'nodes', 'audit'] as const
/** One of them. */
export type EventTopic = (typeof eventTopics)[number]

/** Absent in a snapshot. */
const Seq = Type.Optional(
  Type.Integer({
    description: 'Its place among all events. Absent in a snapshot: that has to be received whole',
  }),
)
const type = <Word extends string>(word: Word) => Type.Literal(word)
const ofAction = {
  seq: Seq,
  action_uid: Type.String(),
  bdb_uid: Type.Union([Type.Integer(), Type.Null()], { description: 'Null of a module' }),
}
const withAction = <Shape extends TObject>({ properties }: Shape) =>
  Type.Object({ ...(properties as Shape['properties']), ...ofAction })
const [changed, patched, handedOver] = ActionEvent.anyOf

/** An event of a cluster. */
export const ClusterEvent = Type.Union([
  withAction(changed),
  withAction(patched),
  withAction(handedOver),
  Type.Object(
    {
      seq: Seq,
      type: type('database'),
      bdb_uid: DatabaseUid,
      database: Type.Union([Database, Type.Null()], {
        description: 'As it is now, without secrets; null: it is gone',
      }),
    },
    { description: 'What people see of a database has changed' },
  ),
  Type.Object(
    {
      seq: Seq,
      type: type('node'),
      node_uid: Type.Integer(),
      node: Type.Pick(Node, [
        ...(['addr', 'status', 'cores', 'total_memory', 'engine_wall', 'engine_wall_missing'] as const),
      ]),
    },
    { description: 'What is known of a node has changed, but for what it has free' },
  ),
  Type.Object({ seq: Type.Integer(), type: type('audit'), record: LogEntry }),
  Type.Object(
    {
      type: type('snapshot'),
      time: Type.String(),
      reason: Type.Enum(['start', 'gap', 'permissions'], {
        description:
          'start: the client has named no event. gap: what came after the event that it has named is not known any more. permissions: it may see other things now',
      }),
      message: Type.String(),
    },
    {
      description:
        'Forget what the stream has said before. What is there now follows: running actions, databases and nodes; then `live`',
    },
  ),
  Type.Object(
    { seq: Type.Integer(), type: type('live'), time: Type.String() },
    {
      description: 'The snapshot is complete. From here on each event comes once, in order',
    },
  ),
])
export type ClusterEvent = Static<typeof ClusterEvent>

const word = `(${eventTopics.join('|')})`

/** GET /v1/events: events of the whole cluster that the caller may see. Never ends. */
export const followEvents = operation({
  method: 'GET',
  path: '/v1/events',
  summary:
    'Follow everything that happens in the cluster: actions with their lanes, databases, nodes, the audit',
  permission: 'view_cluster_info',
  query: closed({
    ...StreamQuery.properties,
    topics: Type.Optional(
      Type.String({
        pattern: `^${word}(,${word})*$`,
        maxLength: 100,
        description: `Which, separated by commas: ${eventTopics.join(', ')}. All that the caller may see, when absent`,
      }),
    ),
    database: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 2_147_483_647,
        description: 'Only what concerns this database: no nodes',
      }),
    ),
  }),
  stream: true,
  ok: ClusterEvent,
  errors: ['db_not_exist'],
})
