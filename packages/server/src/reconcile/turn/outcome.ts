import type { Obstacle } from '../../core/state/obstacle.ts'

/**
 * `not yet`: nothing failed or is half-done; look again, after `afterMs` if clients were held. `hopeless`:
 * the goal is unreachable; nothing is half-done either. Trouble is thrown.
 */
export type Outcome =
  | { readonly kind: 'done' }
  | ({ readonly kind: 'not yet'; readonly afterMs?: number } & Obstacle)
  | ({ readonly kind: 'hopeless' } & Obstacle)

/** The step is done; the next look decides what follows. */
export const done: Outcome = { kind: 'done' }

/** Returns the outcome of an order that missed its deadline: it is given again. */
export function lateOrder(shard: number): Outcome {
  return {
    kind: 'not yet',
    code: 'order_late',
    why: `shard ${shard} did not carry out its order in time`,
  }
}

/** Returns why a shard does not take over: docs/explain/cluster-view.md. */
export function equalEpochs(port: number): Obstacle {
  const why = `the shard at port ${port} has the same config epoch as its primary, and takes over when another shard of the cluster has a higher one`
  return { code: 'cluster_view', why }
}
