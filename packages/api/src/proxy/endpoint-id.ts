import { Type } from 'typebox'

/** An endpoint in a path of the proxy. */
export const EndpointId = Type.Object({ id: Type.String({ pattern: '^[a-z0-9-]{1,40}$' }) })

/** A hash slot of cluster mode: 16,384 in all. */
export const Slot = Type.Integer({ minimum: 0, maximum: 16_383 })
