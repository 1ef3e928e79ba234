import { runsOf } from '../words/describe-action.ts'

type Runs = { readonly engine: string; readonly engine_version: string }

/** An engine and its version, in one line. */
export function Version({ of }: { readonly of: Runs }) {
  return <span className="version">{runsOf(of)}</span>
}
