import type { Build } from '@fairlead/api'
import type { SettingsPair } from '../src/reconcile/carry-over/carry-settings.ts'
import { readBaseline } from '../src/reconcile/carry-over/read-settings.ts'
import { startTestEngine, type TestEngine } from './engine.ts'

/** Two engines, as a primary and the one that is to have its users and settings. */
export interface Pair extends AsyncDisposable {
  readonly from: TestEngine
  readonly to: TestEngine
  readonly pair: SettingsPair
}

export async function startPair(fromBuild: Build, toBuild: Build): Promise<Pair> {
  await using stack = new AsyncDisposableStack()
  const [from, to] = [await startTestEngine(fromBuild), await startTestEngine(toBuild)]
  stack.use(from)
  stack.use(to)
  const baseline = await readBaseline(from.admin)
  const owned = stack.move()
  return {
    from,
    to,
    pair: { from: from.admin, fromBuild, to: to.admin, toBuild, inCluster: false, baseline },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}
