import type { ErrorObstacle, RequestObstacle } from '@fairlead/api'

/** What is in the way of a request, in the words of the wire. */
export function obstacleToWire({ code, message, field }: RequestObstacle): ErrorObstacle {
  return { error_code: code, message, field: field ?? null }
}
