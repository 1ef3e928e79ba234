import { type ClusterEvent, type EventTopic, eventTopics, followEvents, Refusal } from '@fairlead/api'
import { type Caller, may, type Principal } from '../core/identity/access.ts'
import { mayWatch } from '../core/identity/may-watch.ts'
import type { Databases } from '../databases/databases-service.ts'
import type { Mount } from '../http/mount.ts'
import type { ClusterEvents, Viewer } from './cluster-events.ts'
import { topicOf } from './event-wire.ts'

/** Serves GET /v1/events: one stream for a whole cluster. Refuses with `forbidden` what the caller may not see at all. */
export function eventsRoutes(mount: Mount, events: ClusterEvents, databases: Pick<Databases, 'get'>): void {
  mount(followEvents, async ({ query: { topics: named, database } }, caller) => {
    const topics = topicsFor(caller.user, named)
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
      events: (from, signal) => events.follow({ topics, database }, viewer, from, signal),
    }
  })
}

function topicsFor(user: Principal, named: string | undefined): ReadonlySet<EventTopic> {
  const allowed = eventTopics.filter((topic) => mayWatch(user, topic))
  const asked =
    named === undefined ? allowed : eventTopics.filter((topic) => named.split(',').includes(topic))
  const refused = asked.find((topic) => !allowed.includes(topic))
  if (refused !== undefined)
    throw new Refusal('forbidden', `topics: the roles of ${user.name} do not let you see ${refused}`)
  return new Set(asked)
}

/** At the moment at which it is sent. */
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
