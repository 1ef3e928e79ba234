/** The agent's name of a shard. */
export function agentName(shardId: number): string {
  return `s${shardId}`
}
