import type { Obstacle } from '../../core/state/obstacle.ts'

/**
 * `not yet`: nothing went wrong and nothing is left half-done; look again, after `afterMs` where clients were held for
 * it. `hopeless`: the step has found that the goal cannot be reached; nothing is left half-done either.
 * Trouble is thrown.
 */
export type Outcome =
  | { readonly kind: 'done' }
  | ({ readonly kind: 'not yet'; readonly afterMs?: number } & Obstacle)
  | ({ readonly kind: 'hopeless' } & Obstacle)

/** The step is carried out; what is seen next says what follows. */
export const done: Outcome = { kind: 'done' }

/** An order with a deadline was not carried out in time: it is given again. */
export function lateOrder(shard: number): Outcome {
  return {
    kind: 'not yet',
    code: 'order_late',
    why: `shard ${shard} did not carry out its order in time`,
  }
}

/** Why a shard does not take over: docs/explain/cluster-view.md. */
export function equalEpochs(port: number): Obstacle {
  const why = `the shard at port ${port} has the same config epoch as its primary, and takes over when another shard of the cluster has a higher one`
  return { code: 'cluster_view', why }
}
