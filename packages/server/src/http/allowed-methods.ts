import type { FastifyInstance } from 'fastify'

/** The methods of a path, in the order of the alphabet; none where there is nothing at it. */
export type MethodsAt = (path: string) => readonly string[]

interface Place {
  readonly pattern: RegExp
  readonly methods: Set<string>
}

/** Call it before routes are added: it notes their paths. */
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

/** As Fastify reads the path of a route: `:name` is a part of a path, `:name(…)` one of this form. */
function patternOf(url: string): RegExp {
  const parts = url.split('/').map((part) => {
    if (!part.startsWith(':')) return part.replace(/[^\w-]/g, '\\$&')
    return /\(\^(.*)\$\)$/.exec(part)?.[1]?.replace('.*', '[^/]*') ?? '[^/]+'
  })
  return new RegExp(`^${parts.join('/')}$`)
}
