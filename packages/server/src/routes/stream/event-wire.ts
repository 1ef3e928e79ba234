import type { ClusterEvent, EventTopic } from '@fairlead/api'
import type { ActionEvent } from '../../core/state/action-event.ts'
import type { StoredEvent } from '../../fleet/stores/events-store.ts'
import { eventToWire } from '../fleet/action-wire.ts'
import { toWire as recordToWire } from '../identity/audit-routes.ts'

/** An action's event among all events; `seq` undefined: part of a snapshot. */
export function actionEventToWire(
  event: ActionEvent,
  databaseUid: number | null,
  seq: number | undefined,
): ClusterEvent {
  const { seq: _seq, ...answer } = eventToWire(event)
  const place = { action_uid: event.actionUid, bdb_uid: databaseUid, ...(seq !== undefined && { seq }) }
  return { ...answer, ...place }
}

/** Translates an event; undefined: it is not shown. `showDatabase` returns null for a deleted one. */
export async function toWire(
  event: StoredEvent,
  showDatabase: (uid: number) => Promise<DatabaseAnswer>,
): Promise<ClusterEvent | undefined> {
  const { seq } = event
  switch (event.topic) {
    case 'actions':
      return event.event && actionEventToWire(event.event, event.databaseUid, seq)
    case 'databases': {
      const { databaseUid: uid } = event
      return { seq, type: 'database', bdb_uid: uid, database: await showDatabase(uid) }
    }
    case 'nodes':
      return nodeToWire(event.nodeUid, event.data, seq)
    case 'audit':
      return { seq, type: 'audit', record: recordToWire(event.record) }
  }
}

/** A node's last observation; cluster-events.ts wrote `data`. */
export function nodeToWire(uid: number, data: string, seq: number | undefined): ClusterEvent {
  const node = JSON.parse(data) as NodeAnswer // written from the same type
  return { type: 'node', node_uid: uid, node, ...(seq !== undefined && { seq }) }
}

/** An event's topic and database (null: none); undefined: it is about the stream. */
export function topicOf(
  event: ClusterEvent,
): { readonly topic: EventTopic; readonly databaseUid: number | null } | undefined {
  switch (event.type) {
    case 'action':
    case 'lanes':
    case 'handover':
      return { topic: 'actions', databaseUid: event.bdb_uid }
    case 'database':
      return { topic: 'databases', databaseUid: event.bdb_uid }
    case 'node':
      return { topic: 'nodes', databaseUid: null }
    case 'audit': {
      const { bdb_uid } = event.record
      return { topic: 'audit', databaseUid: bdb_uid === undefined ? null : Number(bdb_uid) }
    }
    case 'snapshot':
    case 'live':
      return undefined
  }
}

type DatabaseAnswer = Extract<ClusterEvent, { readonly type: 'database' }>['database']
/** The data of a node event. */
export type NodeAnswer = Extract<ClusterEvent, { readonly type: 'node' }>['node']
