import { Refusal } from '@fairlead/api'

/** The refusal of a request that needs the agent, while the agent does not answer. */
export function agentAway(): Refusal {
  return new Refusal('unavailable', 'the agent does not answer right now', { wayOut: 'try again' })
}
