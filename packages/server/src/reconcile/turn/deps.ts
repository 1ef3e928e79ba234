import type { Logger } from 'pino'
import type { ActionsStore } from '../../actions/actions-store.ts'
import type { HandoversStore } from '../../actions/handovers-store.ts'
import type { DatabasesStore } from '../../databases/databases-store.ts'
import type { ShardsStore } from '../../databases/shards-store.ts'
import type { AgentLink } from '../../nodes/agent-link.ts'
import type { ProxyLink } from '../../nodes/proxy-link.ts'
import type { Store } from '../../store/open-store.ts'
import type { Tls } from '../../tls/tls-service.ts'
import type { Effect } from './effect.ts'
import type { Engines } from './engines.ts'
import type { OrdersToServe } from './orders-to-serve.ts'
import type { Preparations } from './preparations.ts'
import type { Takeovers } from './take-over.ts'
import type { Trials } from './trials.ts'

/** What a turn works with. */
export interface Deps {
  readonly store: Store
  readonly databases: DatabasesStore
  readonly shards: ShardsStore
  readonly actions: ActionsStore
  readonly handovers: HandoversStore
  readonly agent: AgentLink
  readonly proxy: ProxyLink
  readonly engines: Engines
  readonly trials: Trials
  readonly preparations: Preparations
  readonly takeovers: Takeovers
  readonly ordersToServe: OrdersToServe
  readonly tls: Pick<Tls, 'current' | 'shards'>
  /** Shards that are added from now on speak TLS to others, if nothing stands against it. */
  readonly shardTls: boolean
  readonly portRange: { readonly from: number; readonly to: number }
  /** Shards are placed one after the other: a port that was found free is on record before the next is looked for. */
  readonly inTurn: <T>(place: () => Promise<T>) => Promise<T>
  /** Unix milliseconds. */
  readonly now: () => number
  readonly log: Logger
  readonly effect: Effect
}

/** Lets one piece of work begin when the one before has ended, however it ended. */
export function createTurns(): Deps['inTurn'] {
  let last: Promise<unknown> = Promise.resolve()
  return (work) => {
    const done = last.then(work)
    last = done.catch(() => undefined) // its failure is for who asked for it, not for who comes next
    return done
  }
}
