import { type ShardDuty, shardDuties } from '@fairlead/api'

/** A shard's duty in its group: a shape and a word. */
export function RoleMark({ role }: { readonly role: ShardDuty }) {
  return (
    <span className="role" data-role={role} title={shardDuties[role].meaning}>
      <span className="role-shape" aria-hidden="true" />
      {shardDuties[role].label}
    </span>
  )
}
