import { type Sight, useSight } from '../live/live-state.ts'
import { elapsed } from '../words/format.ts'

const looks: Readonly<Record<Sight['kind'], { readonly sign: string; readonly tone: string }>> = {
  live: { sign: '●', tone: 'ok' },
  connecting: { sign: '◌', tone: 'quiet' },
  reconnecting: { sign: '◌', tone: 'wait' },
  stale: { sign: '▲', tone: 'wait' },
  denied: { sign: '‖', tone: 'quiet' },
}

function wordsOf({ kind, forMs }: Sight): string {
  const time = elapsed(forMs)
  switch (kind) {
    case 'live':
      return 'Live'
    case 'connecting':
      return 'Connecting'
    case 'reconnecting':
      return `Reconnecting ${time}`
    case 'stale':
      return `Last known, ${time} ago`
    case 'denied':
      return 'Not live'
  }
}

/** Shows whether the page follows the server. Has a constant width. */
export function LiveChip() {
  return <Chip sight={useSight()} />
}

/** The chip for one sight. */
export function Chip({ sight }: { readonly sight: Sight }) {
  const { sign, tone } = looks[sight.kind]
  const about =
    sight.kind === 'denied' ? 'Your roles lack view_cluster_info: reload to see what is new' : undefined
  return (
    <span className="live-chip" data-tone={tone} data-live={sight.kind} title={about}>
      <span aria-hidden="true">{sign}</span> {wordsOf(sight)}
    </span>
  )
}

/** Above every page while the server is out of sight. */
export function StaleBanner() {
  const sight = useSight()
  if (sight.kind !== 'stale') return null
  return (
    <div className="banner" role="status">
      <strong>The console cannot see the server.</strong> Databases go on without it; whether they serve
      cannot be seen from here. Orders are off until it is back; what you see is as it was{' '}
      {elapsed(sight.forMs)} ago.
    </div>
  )
}
