import { type ShardDuty, shardDuties } from '@fairlead/api'

/** What a shard is to its group: a shape and a word. */
export function RoleMark({ role }: { readonly role: ShardDuty }) {
  return (
    <span className="role" data-role={role} title={shardDuties[role].meaning}>
      <span className="role-shape" aria-hidden="true" />
      {shardDuties[role].label}
    </span>
  )
}
