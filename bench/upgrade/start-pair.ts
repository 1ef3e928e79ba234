import { startBenchEngine } from './start-engines.ts'
import type { BenchGroup } from './watch-primaries.ts'

/** Builds as the folder of builds names them: "valkey-8.0.1". */
export interface Versions {
  readonly from: string
  readonly to: string
}

/** A primary on `from` with a replica on `to`. */
export async function startPair({
  from,
  to,
}: Versions): Promise<AsyncDisposable & { readonly group: BenchGroup }> {
  await using opened = new AsyncDisposableStack()
  const old = opened.use(await startBenchEngine(from, []))
  const successor = opened.use(await startBenchEngine(to, [`replicaof ${old.host} ${old.port}`]))
  const owned = opened.move()
  return { group: { slots: '', old, successor }, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}
