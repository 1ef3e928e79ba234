/** What the agent calls a shard. */
export function agentName(shardId: number): string {
  return `s${shardId}`
}
