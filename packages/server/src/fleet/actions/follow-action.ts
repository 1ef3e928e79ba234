import { type ActionChange, type ActionEvent, hasEnded } from '../../core/state/action-event.ts'
import type { EventFeed, Watch } from '../events/event-feed.ts'
import type { ActionEventsStore } from '../stores/action-events-store.ts'
import type { ActionsStore } from '../stores/actions-store.ts'

interface Sources {
  readonly actions: Pick<ActionsStore, 'get'>
  readonly events: Pick<ActionEventsStore, 'listAfter'>
  readonly feed: EventFeed
}

/** Events per query. */
const PAGE = 100

/** Yields an action's events after number `seq`, each once and in order: stored ones, then new ones. */
export async function* followAction(
  { actions, events, feed }: Sources,
  uid: string,
  seq: number,
  signal: AbortSignal,
): AsyncGenerator<ActionEvent, void, undefined> {
  using watch = feed.watch((event) => event.topic === 'actions' && event.actionUid === uid)
  let last = seq
  while (!signal.aborted) {
    watch.sync()
    // Read first, so that the events read below include its end.
    const action = await actions.get(uid)
    for (let isAll = false; !isAll; ) {
      const page = await events.listAfter(uid, last, PAGE)
      for (const event of page) {
        if (signal.aborted) return
        yield event
        last = event.seq
      }
      isAll = page.length < PAGE
    }
    if (action === undefined || hasEnded(action)) return
    for await (const event of live(watch, () => last, signal)) {
      yield event
      last = event.seq
    }
  }
}

/** Yields new events until the store must be read again: after the action's end, or a missed event. */
async function* live(watch: Watch, last: () => number, signal: AbortSignal): AsyncGenerator<ActionEvent> {
  while (!signal.aborted) {
    const next = watch.next(last())
    if (next === undefined) {
      await watch.news(signal)
      continue
    }
    if (next === 'behind' || next === 'reset' || next.topic !== 'actions' || next.event === undefined) return
    yield next.event
    if (next.event.type === 'action' && isEnd(next.event.change)) return
  }
}

function isEnd({ status }: ActionChange): boolean {
  return status !== undefined && hasEnded({ status })
}
