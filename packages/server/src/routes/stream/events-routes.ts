import {
  type ClusterEvent,
  type EventTopic,
  eventTopics,
  followEvents,
  type Input,
  Refusal,
} from '@fairlead/api'
import { type Caller, may, mayWatch, type Principal } from '../../core/identity/access.ts'
import type { Databases } from '../../fleet/databases/databases-service.ts'
import { InvalidInput } from '../../http/compile-validator.ts'
import type { Mount } from '../../http/mount.ts'
import type { ClusterEvents, Viewer } from './cluster-events.ts'
import { topicOf } from './event-wire.ts'

/** Serves GET /v1/events: one stream for a whole cluster. Refuses hidden topics with `forbidden`. */
export function eventsRoutes(mount: Mount, events: ClusterEvents, databases: Pick<Databases, 'get'>): void {
  mount(followEvents, async ({ query }, caller) => {
    const { database } = query
    const topics = topicsFor(caller.user, query)
    if (database !== undefined) {
      if (!may(caller.user, 'view_bdb_info', database))
        throw new Refusal('forbidden', `database: your roles do not let you see database ${database}`)
      await databases.get(database)
    }
    const viewer = viewerOf(caller)
    return {
      admits(now) {
        viewer.see(now.user)
        return [...topics].some((topic) => mayWatch(now.user, topic))
      },
      shows: isFor,
      markOf: events.markOf,
      events: (from, signal) => events.follow({ topics, database }, viewer, from, signal),
    }
  })
}

type Query = Input<typeof followEvents>['query']

/** Topics named in the query. Nodes belong to no database. Throws InvalidInput. */
function topicsAsked({ topics, database }: Query): readonly EventTopic[] {
  const words = topics?.split(',')
  if (words === undefined) return database === undefined ? eventTopics : OF_DATABASE
  const asked = eventTopics.filter((topic) => words.includes(topic))
  if (database === undefined || !asked.includes('nodes')) return asked
  const message = 'topics: nodes concern no database; leave out nodes, or database'
  throw new InvalidInput([{ field: 'topics', message }])
}

const OF_DATABASE = eventTopics.filter((topic) => topic !== 'nodes')

/** Topics visible to the caller. Throws Refusal forbidden if a named one, or all, are hidden. */
function topicsFor(user: Principal, query: Query): ReadonlySet<EventTopic> {
  const asked = topicsAsked(query)
  const refused = asked.filter((topic) => !mayWatch(user, topic))
  if (refused.length > 0 && (query.topics !== undefined || refused.length === asked.length))
    throw new Refusal('forbidden', `topics: the roles of ${user.name} do not let you see ${refused[0]}`)
  return new Set(asked.filter((topic) => !refused.includes(topic)))
}

/** Checked when the event is sent. */
function isFor(event: ClusterEvent, { user }: Caller): boolean {
  const about = topicOf(event)
  return about === undefined || mayWatch(user, about.topic, about.databaseUid)
}

function viewerOf(caller: Caller): Viewer & { readonly see: (user: Principal) => void } {
  let { user } = caller
  let listener: (() => void) | undefined
  return {
    user: () => user,
    onChange(told) {
      listener = told
    },
    see(now) {
      if (now === user) return
      const isOther = JSON.stringify(now.grants) !== JSON.stringify(user.grants)
      user = now
      if (isOther) listener?.()
    },
  }
}
