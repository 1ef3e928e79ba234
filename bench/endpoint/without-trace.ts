/**
 * Loaded before the proxy (`--import`), it is the proxy without the ring that traces of handovers come from:
 * replies are put into no bucket. Nothing else of it is other.
 */
import { registerHooks } from 'node:module'

const OF_RING = '/traffic/tape.ts'
const BEGIN = '    note(nowMs) {\n'

registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context)
    if (!url.endsWith(OF_RING)) return loaded
    const text = loaded.source ?? ''
    const source = typeof text === 'string' ? text : new TextDecoder().decode(text)
    // Otherwise the endpoint would be compared with itself.
    if (!source.includes(BEGIN)) throw new Error(`${url} has no note() any more: adapt this file`)
    return { ...loaded, source: source.replace(BEGIN, `${BEGIN}      if (nowMs > 0) return\n`) }
  },
})
