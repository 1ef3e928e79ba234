import { useRef } from 'react'
import { Link, useLocation } from 'wouter'
import { useMay } from '../live/permissions.ts'
import { Brand } from './brand.tsx'
import { type Entry, entries } from './entries.ts'
import { Glyph } from './glyph.tsx'
import { ThemeButton } from './theme-button.tsx'

/** Entries that fit next to each other on a phone. The others are behind *More*. */
const IN_REACH = 4

/** The pages, on the left; on a phone at the bottom. */
export function Rail() {
  const may = useMay()
  const all = entries.filter(({ permission }) => may(permission))
  return (
    <nav className="rail" aria-label="Pages">
      <Link href="/" className="brand" aria-label="Fairlead, overview">
        <Brand />
        <span>Fairlead</span>
      </Link>
      {all.map((entry, place) => (
        <RailLink key={entry.to} entry={entry} isInReach={place < IN_REACH} />
      ))}
      <More entries={all.slice(IN_REACH)} />
    </nav>
  )
}

function RailLink(props: {
  readonly entry: Entry
  readonly isInReach?: boolean
  readonly onClick?: () => void
}) {
  const { entry, isInReach = true, onClick } = props
  const { to, label, glyph } = entry
  const isHere = useIsHere()
  return (
    <Link
      href={to}
      className={`rail-link ${isInReach ? '' : 'rail-far'}`}
      title={label}
      aria-current={isHere(entry) ? 'page' : undefined}
      {...(onClick !== undefined && { onClick })}
    >
      <Glyph name={glyph} />
      <span>{label}</span>
    </Link>
  )
}

/** On a phone: the other pages, and the parts that do not fit in the bar above. */
function More({ entries: others }: { readonly entries: readonly Entry[] }) {
  const menu = useRef<HTMLDivElement>(null)
  const isHere = useIsHere()
  const close = () => menu.current?.hidePopover()
  return (
    <>
      <button
        type="button"
        className="rail-link rail-more"
        popoverTarget="more-pages"
        data-here={others.some(isHere)}
      >
        <Glyph name="more" />
        <span>More</span>
      </button>
      <div ref={menu} id="more-pages" className="more" popover="auto">
        {others.map((entry) => (
          <RailLink key={entry.to} entry={entry} onClick={close} />
        ))}
        <ThemeButton />
      </div>
    </>
  )
}

function useIsHere(): (entry: Entry) => boolean {
  const [here] = useLocation()
  return ({ to }) => here === to || (to !== '/' && here.startsWith(`${to}/`))
}
