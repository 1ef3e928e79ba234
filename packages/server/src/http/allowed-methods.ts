import type { FastifyInstance } from 'fastify'

/** A path's methods, sorted; empty if it does not exist. */
export type MethodsAt = (path: string) => readonly string[]

interface Place {
  readonly pattern: RegExp
  readonly methods: Set<string>
}

/** Records all routes added later. */
export function noteMethods(app: FastifyInstance): MethodsAt {
  const places = new Map<string, Place>()
  app.addHook('onRoute', ({ url, method }) => {
    const place = places.get(url) ?? { pattern: patternOf(url), methods: new Set() }
    places.set(url, place)
    for (const one of [method].flat()) place.methods.add(one)
  })
  return (path) => {
    const plain = path.replace(/\/+/g, '/').replace(/(.)\/$/, '$1')
    const found = [...places.values()].filter(({ pattern }) => pattern.test(plain))
    return [...new Set(found.flatMap(({ methods }) => [...methods]))].toSorted()
  }
}

/** Parses a route path like Fastify: `:name` is any segment, `:name(…)` a segment of this form. */
function patternOf(url: string): RegExp {
  const parts = url.split('/').map((part) => {
    if (!part.startsWith(':')) return part.replace(/[^\w-]/g, '\\$&')
    return /\(\^(.*)\$\)$/.exec(part)?.[1]?.replace('.*', '[^/]*') ?? '[^/]+'
  })
  return new RegExp(`^${parts.join('/')}$`)
}
