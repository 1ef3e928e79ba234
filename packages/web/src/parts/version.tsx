import { runsOf } from '../words/describe-action.ts'

type Runs = { readonly engine: string; readonly engine_version: string }

/** An engine and its version. The goal of an upgrade has a filled box, the old build a hatched one. */
export function Version({ of, as }: { readonly of: Runs; readonly as?: 'goal' | 'old' | undefined }) {
  return (
    <span className="version">
      {as !== undefined && <span className="texture" data-as={as} aria-hidden="true" />}
      {runsOf(of)}
    </span>
  )
}
