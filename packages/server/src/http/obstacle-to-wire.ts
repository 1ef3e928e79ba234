import type { ErrorObstacle, RequestObstacle } from '@fairlead/api'

/** An obstacle in the words of the wire. */
export function obstacleToWire({ code, message, field }: RequestObstacle): ErrorObstacle {
  return { error_code: code, message, field: field ?? null }
}
