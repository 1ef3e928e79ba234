import { useEffect } from 'react'
import type { Tone } from '../words/describe-action.ts'

/** Each hue has a separate shape, recognizable at 16 pixels. The colours fit light and dark tabs. */
const shapes: Readonly<Record<Tone, string>> = {
  busy: '<circle cx="8" cy="8" r="6" fill="none" stroke="#4466ee" stroke-width="2"/><path d="M8 2a6 6 0 0 1 0 12z" fill="#4466ee"/>',
  ok: '<circle cx="8" cy="8" r="8" fill="#28948a"/><path d="m4 8.5 3 3 5-6" fill="none" stroke="white" stroke-width="2"/>',
  wait: '<circle cx="8" cy="8" r="6.5" fill="none" stroke="#b8860b" stroke-width="2.5"/><path d="M8 4v4.5l3 2" fill="none" stroke="#b8860b" stroke-width="2"/>',
  bad: '<path d="M8 0 16 15H0z" fill="#d02040"/><path d="M8 5v5M8 12v1.5" stroke="white" stroke-width="2"/>',
  quiet: '<circle cx="8" cy="8" r="6" fill="none" stroke="#808488" stroke-width="2"/>',
}

/** Shows a page's phase in the icon of its tab. */
export function useFavicon(tone: Tone | undefined): void {
  useEffect(() => {
    const link = document.querySelector<HTMLLinkElement>('link[rel=icon]')
    if (link === null || tone === undefined) return
    const before = link.href
    const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16">${shapes[tone]}</svg>`
    link.href = `data:image/svg+xml,${encodeURIComponent(svg)}`
    return () => {
      link.href = before
    }
  }, [tone])
}
